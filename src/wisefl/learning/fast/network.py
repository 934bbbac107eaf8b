"""The paper's CNN, compiled: one client's local training, and the losses of a given model."""

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Ints, Singles
from wisefl.learning.fast import dense
from wisefl.learning.fast.convolution import (
    add_weight_gradient,
    arrange_backward,
    arrange_forward,
    collect_weight_gradient,
    convolve_and_pool,
    send_back,
    unpool_rows,
)
from wisefl.learning.fast.emit import LANES
from wisefl.learning.fast.lanes import kernel, part
from wisefl.learning.fast.layers import gather_pixels
from wisefl.learning.fast.sizes import (
    CLASSES,
    FIRST_GRADIENTS,
    FIRST_OUTPUTS,
    SECOND_GRADIENTS,
    SECOND_OUTPUTS,
    SPREAD_INPUTS,
    Sizes,
)
from wisefl.learning.fast.workspace import Workspace

Images = NDArray[np.uint8] | Singles


@part
def _copy(source: Singles, out: Singles) -> None:
    """Element by element: assigning to a slice would make Numba compile its error messages, for seconds."""
    for k in range(out.size):
        out[k] = source[k]


@part
def _choose(order: Ints, first: int, batch: int, chosen: Ints) -> int:
    """Fill the lanes with the batch's samples, -1 where there is none; returns the number of lanes in use."""
    samples = (batch + LANES - 1) // LANES * LANES
    for s in range(samples):
        chosen[s] = order[first + s] if s < batch else -1
    return samples


@part
def _forward(images: Images, sizes: Sizes, ws: Workspace, samples: int) -> None:
    """Logits of the chosen samples under the network whose convolutions have been arranged."""
    net, conv1, conv2 = ws.network, sizes.conv1, sizes.conv2
    size = conv1.channels * conv1.height * conv1.width
    size1 = conv1.outputs * conv1.pooled_height * conv1.pooled_width
    for first in range(0, samples, LANES):
        image = ws.images[first * size :]
        for pixel in range(0, size, LANES):
            gather_pixels(images, size, pixel, ws.chosen, first, image, pixel * LANES)
        convolve_and_pool(
            image, conv1, ws.forward1, net.bias1, FIRST_OUTPUTS, ws.pooled1, first * size1, LANES,
            ws.codes1[first * size1 :],
        )  # fmt: skip
        convolve_and_pool(
            ws.pooled1[first * size1 :], conv2, ws.forward2, net.bias2, SECOND_OUTPUTS, ws.features, first, samples,
            ws.codes2[first * sizes.dense1.inputs :],
        )  # fmt: skip
    dense.forward(ws.features, net.weight3, net.bias3, sizes.dense1, samples, ws.hidden1)
    dense.forward(ws.hidden1, net.weight4, net.bias4, sizes.dense2, samples, ws.hidden2)
    dense.forward(ws.hidden2, net.weight5, net.bias5, sizes.dense3, samples, ws.logits)


@part
def _sample_loss(logits: Singles, samples: int, s: int, label: int) -> np.float32:
    """Cross entropy of one sample."""
    top = logits[s]
    for c in range(1, CLASSES):
        top = max(top, logits[c * samples + s])
    total = np.float32(0.0)
    for c in range(CLASSES):
        total += np.exp(logits[c * samples + s] - top)
    loss: np.float32 = np.log(total) + top - logits[label * samples + s]
    return loss


@part
def _loss(ws: Workspace, labels: Ints, samples: int, batch: int) -> float:
    """Mean cross entropy of the batch; leaves its gradient, which is zero in lanes without a sample."""
    scale = np.float32(1.0) / np.float32(batch)
    total = np.float64(0.0)
    ws.logits_gradient.fill(0)
    for s in range(batch):
        label = labels[ws.chosen[s]]
        loss = _sample_loss(ws.logits, samples, s, label)
        total += loss
        log_total = loss + ws.logits[label * samples + s]
        for c in range(CLASSES):
            ws.logits_gradient[c * samples + s] = np.exp(ws.logits[c * samples + s] - log_total) * scale
        ws.logits_gradient[label * samples + s] -= scale
    return total / batch


@part
def _step_dense(sizes: Sizes, ws: Workspace, samples: int, batch: int, rate: np.float32, pull: np.float32) -> None:
    """Backward through the fully connected layers; a layer steps once its input has its gradient."""
    net, start = ws.network, ws.start
    dense.by_sample(ws.features, sizes.dense1, samples, ws.features_by_sample)
    dense.by_sample(ws.hidden1, sizes.dense2, samples, ws.hidden1_by_sample)
    dense.by_sample(ws.hidden2, sizes.dense3, samples, ws.hidden2_by_sample)
    dense.backward(ws.logits_gradient, net.weight5, sizes.dense3, samples, ws.hidden2, ws.hidden2_gradient)
    dense.backward(ws.hidden2_gradient, net.weight4, sizes.dense2, samples, ws.hidden1, ws.hidden1_gradient)
    dense.backward(ws.hidden1_gradient, net.weight3, sizes.dense1, samples, ws.features, ws.features_gradient)
    dense.step(
        ws.logits_gradient, ws.hidden2_by_sample, sizes.dense3, samples, batch,
        net.weight5, net.bias5, start.weight5, start.bias5, rate, pull,
    )  # fmt: skip
    dense.step(
        ws.hidden2_gradient, ws.hidden1_by_sample, sizes.dense2, samples, batch,
        net.weight4, net.bias4, start.weight4, start.bias4, rate, pull,
    )  # fmt: skip
    dense.step(
        ws.hidden1_gradient, ws.features_by_sample, sizes.dense1, samples, batch,
        net.weight3, net.bias3, start.weight3, start.bias3, rate, pull,
    )  # fmt: skip


@part
def _backward_second(sizes: Sizes, ws: Workspace, samples: int, first: int) -> None:
    """One block's part in the second convolution's gradients, and the gradient of its input."""
    conv = sizes.conv2
    area = conv.pooled_height * conv.pooled_width
    plane = 4 * area * LANES
    for o in range(conv.outputs):
        ws.bias2_gradient[o] += unpool_rows(
            ws.features_gradient, o * area * samples + first, samples, ws.codes2,
            (first * conv.outputs + o * LANES) * area, conv.pooled_width, conv.pooled_height, ws.full2_gradient,
            o * plane,
        )  # fmt: skip
    rows = len(SECOND_GRADIENTS)
    source = ws.pooled1[first * conv.channels * conv.height * conv.width :]
    for o in range(0, conv.outputs, rows):
        add_weight_gradient(
            ws.full2_gradient[o * plane :], plane, 2 * conv.pooled_height, source, 0, conv, SECOND_GRADIENTS,
            ws.sums2, o * (ws.sums2.size // conv.outputs),
        )  # fmt: skip
    send_back(ws.full2_gradient, conv, ws.backward2, SPREAD_INPUTS, ws.pooled1_gradient)


@part
def _backward_first(sizes: Sizes, ws: Workspace, first: int) -> None:
    """One block's part in the first convolution's gradients.

    The full-size gradient is made two rows at a time, so that it stays in the first cache.
    """
    conv = sizes.conv1
    rows = len(FIRST_GRADIENTS)
    area = conv.pooled_height * conv.pooled_width
    plane = 4 * conv.pooled_width * LANES
    image = ws.images[first * conv.channels * conv.height * conv.width :]
    codes = ws.codes1[first * conv.outputs * area :]
    for y in range(conv.pooled_height):
        for o in range(0, conv.outputs, rows):
            for r in range(rows):
                at = ((o + r) * area + y * conv.pooled_width) * LANES
                ws.bias1_gradient[o + r] += unpool_rows(
                    ws.pooled1_gradient, at, LANES, codes, at, conv.pooled_width, 1, ws.rows1_gradient, r * plane
                )
            add_weight_gradient(
                ws.rows1_gradient, plane, 2, image, 2 * y, conv, FIRST_GRADIENTS,
                ws.sums1, o * (ws.sums1.size // conv.outputs),
            )  # fmt: skip


@part
def _descend(weights: Singles, start: Singles, gradient: Singles, rate: np.float32, pull: np.float32) -> None:
    for k in range(gradient.size):
        weights[k] -= rate * (gradient[k] + pull * (weights[k] - start[k]))


@part
def _step_convolutions(sizes: Sizes, ws: Workspace, samples: int, rate: np.float32, pull: np.float32) -> None:
    net, start = ws.network, ws.start
    for buffer in (ws.sums1, ws.sums2, ws.bias1_gradient, ws.bias2_gradient):
        buffer.fill(0)
    for first in range(0, samples, LANES):
        _backward_second(sizes, ws, samples, first)
        _backward_first(sizes, ws, first)
    collect_weight_gradient(ws.sums1, sizes.conv1, ws.weight1_gradient)
    collect_weight_gradient(ws.sums2, sizes.conv2, ws.weight2_gradient)
    _descend(net.weight1, start.weight1, ws.weight1_gradient, rate, pull)
    _descend(net.bias1, start.bias1, ws.bias1_gradient, rate, pull)
    _descend(net.weight2, start.weight2, ws.weight2_gradient, rate, pull)
    _descend(net.bias2, start.bias2, ws.bias2_gradient, rate, pull)


@kernel
def train_client(
    images: Images,
    labels: Ints,
    order: Ints,
    starts: Ints,
    rate: np.float32,
    pull: np.float32,
    sizes: Sizes,
    ws: Workspace,
) -> float:
    """Descend from `ws.start` through the batches order[starts[b] : starts[b + 1]]; `ws.network` holds the result.

    Returns the mean over batches of the loss each one met.
    """
    for k in range(len(ws.network)):
        _copy(ws.start[k], ws.network[k])
    total = 0.0
    for b in range(starts.size - 1):
        batch = starts[b + 1] - starts[b]
        samples = _choose(order, starts[b], batch, ws.chosen)
        arrange_forward(ws.network.weight1, sizes.conv1, ws.forward1)
        arrange_forward(ws.network.weight2, sizes.conv2, ws.forward2)
        arrange_backward(ws.network.weight2, sizes.conv2, ws.backward2)
        _forward(images, sizes, ws, samples)
        total += _loss(ws, labels, samples, batch)
        _step_dense(sizes, ws, samples, batch, rate, pull)
        _step_convolutions(sizes, ws, samples, rate, pull)
    return total / max(1, starts.size - 1)


@kernel
def score_samples(
    images: Images,
    labels: Ints,
    order: Ints,
    batch: int,
    sizes: Sizes,
    ws: Workspace,
    losses: Singles,
    predicted: Ints,
) -> None:
    """Cross entropy and most likely class of every sample in `order` under `ws.network`."""
    arrange_forward(ws.network.weight1, sizes.conv1, ws.forward1)
    arrange_forward(ws.network.weight2, sizes.conv2, ws.forward2)
    for first in range(0, order.size, batch):
        count = min(batch, order.size - first)
        samples = _choose(order, first, count, ws.chosen)
        _forward(images, sizes, ws, samples)
        for s in range(count):
            losses[first + s] = _sample_loss(ws.logits, samples, s, labels[order[first + s]])
            best = 0
            for c in range(1, CLASSES):
                if ws.logits[c * samples + s] > ws.logits[best * samples + s]:
                    best = c
            predicted[first + s] = best
