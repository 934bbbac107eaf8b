"""pytorchexample: A Flower / PyTorch app, whose data is scikit-learn's digits instead of CIFAR-10."""

from functools import cache

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader


class Net(nn.Module):
    """Model (simple CNN adapted from 'PyTorch: A 60 Minute Blitz')"""

    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = x.view(-1, 16 * 5 * 5)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


@cache
def images():
    """Eight by eight grey pixels as 32 by 32 of three colours, so that the model stays as it is; shuffled."""
    digits = load_digits()
    pixels = torch.tensor(digits.images / 8.0 - 1.0, dtype=torch.float32)
    large = F.interpolate(pixels[:, None], size=32).expand(-1, 3, -1, -1)
    order = torch.randperm(len(large), generator=torch.Generator().manual_seed(42))
    return [{"img": large[at], "label": int(digits.target[at])} for at in order]


def load_data(partition_id: int, num_partitions: int, batch_size: int):
    """Load a partition of the first 80% of the images."""
    partition = images()[: len(images()) * 4 // 5][partition_id::num_partitions]
    # Divide data on each node: 80% train, 20% test
    cut = len(partition) * 4 // 5
    trainloader = DataLoader(partition[:cut], batch_size=batch_size, shuffle=True)
    testloader = DataLoader(partition[cut:], batch_size=batch_size)
    return trainloader, testloader


def load_centralized_dataset():
    """Load test set and return dataloader."""
    return DataLoader(images()[len(images()) * 4 // 5 :], batch_size=128)


def train(net, trainloader, epochs, lr, device):
    """Train the model on the training set."""
    net.to(device)  # move model to GPU if available
    criterion = torch.nn.CrossEntropyLoss().to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    net.train()
    running_loss = 0.0
    for _ in range(epochs):
        for batch in trainloader:
            images = batch["img"].to(device)
            labels = batch["label"].to(device)
            optimizer.zero_grad()
            loss = criterion(net(images), labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
    avg_trainloss = running_loss / (epochs * len(trainloader))
    return avg_trainloss


def test(net, testloader, device):
    """Validate the model on the test set."""
    net.to(device)
    criterion = torch.nn.CrossEntropyLoss()
    correct, loss = 0, 0.0
    with torch.no_grad():
        for batch in testloader:
            images = batch["img"].to(device)
            labels = batch["label"].to(device)
            outputs = net(images)
            loss += criterion(outputs, labels).item()
            correct += (torch.max(outputs.data, 1)[1] == labels).sum().item()
    accuracy = correct / len(testloader.dataset)
    loss = loss / len(testloader)
    return loss, accuracy
