"""A model and its data, as in Flower's quickstart; scikit-learn's digits need no download."""

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

CLASSES = 10


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 32)
        self.fc2 = nn.Linear(32, CLASSES)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def load_data(partition_id: int, num_partitions: int):
    digits = load_digits()
    mine = np.random.default_rng(0).permutation(len(digits.target))[partition_id::num_partitions]
    cut = len(mine) * 4 // 5
    features = torch.tensor(digits.data / 16.0, dtype=torch.float32)
    labels = torch.tensor(digits.target)
    return (features[mine[:cut]], labels[mine[:cut]]), (features[mine[cut:]], labels[mine[cut:]])


def train(net, data, epochs, lr):
    features, labels = data
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(features), labels)
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.no_grad()
def test(net, data):
    features, labels = data
    logits = net(features)
    return nn.functional.cross_entropy(logits, labels).item(), (logits.argmax(1) == labels).float().mean().item()
