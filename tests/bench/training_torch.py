# SPDX-License-Identifier: MIT
"""The nets of training.c in PyTorch: compares outputs and gradients, and measures step times.

usage: training_torch.py compare NET BATCH FOLDER   with what training_bench left in FOLDER
       training_torch.py time NET BATCH STEPS       prints NET torch BATCH and the medians in ms of CPU time:
                                                    forward, backward, optimizer, whole step
"""
import statistics
import sys
import time

import numpy
import torch
from torch import nn
from torch.nn import functional as F

TIME, OPCODES, STATIC = 32, 256, 40


class LoopDetector(nn.Module):
    def __init__(self):
        super().__init__()
        self.code1, self.code_norm, self.code2 = nn.Linear(32, 128), nn.LayerNorm(128), nn.Linear(128, 128)
        self.side = nn.Linear(32, 96)
        self.lstm = nn.LSTM(128, 128, 2, bidirectional=True)
        self.registers1, self.registers_norm = nn.Linear(64, 128), nn.LayerNorm(128)
        self.registers2 = nn.Linear(128, 128)
        self.attention = nn.MultiheadAttention(256, 4)
        self.type1, self.type2 = nn.Linear(384, 128), nn.Linear(128, 4)
        self.counter = nn.Linear(256, 32)
        self.trips1, self.trips2 = nn.Linear(416, 128), nn.Linear(128, 1)

    def forward(self, bits, registers):
        x = F.relu(self.code_norm(self.code1(bits)))
        x = self.code2(x) + torch.cat((F.relu(self.side(bits)), bits), -1)
        x, _ = self.lstm(x)
        x = (x + self.attention(x, x, x, need_weights=False)[0]).mean(0)
        r = self.registers2(F.relu(self.registers_norm(self.registers1(registers))))
        features = torch.cat((x, r), -1)
        kind = self.type2(F.relu(self.type1(features)))
        counter = self.counter(x)
        features = torch.cat((features, F.softmax(counter, -1)), -1)
        return kind, counter, self.trips2(F.relu(self.trips1(features)))

    @staticmethod
    def inputs(floats, integers, batch):
        bits = floats[:TIME * batch * 32].reshape(TIME, batch, 32)
        rest = floats[TIME * batch * 32:]
        return ((bits, rest[:batch * 64].reshape(batch, 64)),
                (rest[batch * 64:].reshape(batch, 1), integers[:batch], integers[batch:]))

    @staticmethod
    def loss(outputs, targets):
        return (F.cross_entropy(outputs[0], targets[1]) + F.cross_entropy(outputs[1], targets[2]) +
                F.huber_loss(outputs[2], targets[0]))

    counts = (TIME * 32 + 64 + 1, 2)


class PatternRecognizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.opcode = nn.Embedding(OPCODES, 32)
        self.first = nn.Linear(72, 48)
        self.lstm = nn.LSTM(48, 128, 1, bidirectional=True)
        self.attention = nn.MultiheadAttention(256, 4)
        self.norm = nn.LayerNorm(256)
        self.embedding = nn.Linear(256, 128)
        self.class1, self.class2 = nn.Linear(128, 64), nn.Linear(64, 16)
        self.sure1, self.sure2 = nn.Linear(128, 64), nn.Linear(64, 1)

    def forward(self, fixed, opcode):
        x = F.relu(self.first(torch.cat((self.opcode(opcode), fixed), -1)))
        x, _ = self.lstm(x)
        x = self.norm(x + self.attention(x, x, x, need_weights=False)[0]).mean(0)
        e = self.embedding(x)
        return (e, self.class2(F.relu(self.class1(e))), torch.sigmoid(self.sure2(F.relu(self.sure1(e)))))

    @staticmethod
    def inputs(floats, integers, batch):
        split, words = TIME * batch * STATIC, TIME * batch
        return ((floats[:split].reshape(TIME, batch, STATIC), integers[:words].reshape(TIME, batch)),
                (floats[split:].reshape(batch, 1), integers[words:]))

    @staticmethod
    def loss(outputs, targets):
        return F.cross_entropy(outputs[1], targets[1]) + F.huber_loss(outputs[2], targets[0])

    counts = (TIME * STATIC + 1, TIME + 1)


NETS = {'loop-detector': LoopDetector, 'pattern-recognizer': PatternRecognizer}


def compare(net, batch, folder):
    def load(name):
        return torch.from_numpy(numpy.load(f'{folder}/{name}.npy'))

    flat, at = load('parameters'), 0
    for p in net.parameters():
        p.data = flat[at:at + p.numel()].reshape(p.shape).clone()
        at += p.numel()
    assert at == flat.numel(), f'{at} parameters here, {flat.numel()} there'
    inputs, targets = net.inputs(load('floats'), load('integers').long(), batch)
    outputs = net(*inputs)
    net.loss(outputs, targets).backward()
    pairs = [(f'output {i}', o.detach().flatten(), load(f'output{i}')) for i, o in enumerate(outputs)]
    gradient, at = load('gradients'), 0
    for name, p in net.named_parameters():
        pairs.append((name, p.grad.flatten(), gradient[at:at + p.numel()]))
        at += p.numel()
    worst = max(pairs, key=lambda pair: (pair[1] - pair[2]).abs().max())
    difference = (worst[1] - worst[2]).abs().max().item()
    print(f'greatest difference {difference:.2e}, in {worst[0]}')
    return 0 if difference <= 1e-5 else 1


def measure(name, net, batch, steps):
    floats = torch.rand(net.counts[0] * batch)
    integers = torch.randint(0, 4, (net.counts[1] * batch,))
    inputs, targets = net.inputs(floats, integers, batch)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, weight_decay=0.01)
    times = []
    for _ in range(steps + 1):
        start = time.process_time()
        optimizer.zero_grad(set_to_none=True)
        loss = net.loss(net(*inputs), targets)
        forward = time.process_time()
        loss.backward()
        backward = time.process_time()
        nn.utils.clip_grad_norm_(net.parameters(), 1)
        optimizer.step()
        end = time.process_time()
        times.append((forward - start, backward - forward, end - backward, end - start))
    medians = [1000 * statistics.median(column) for column in zip(*times[1:])]
    print(name, 'torch', batch, *(f'{m:.2f}' for m in medians))
    return 0


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    name, batch = sys.argv[2], int(sys.argv[3])
    net = NETS[name]()
    if sys.argv[1] == 'compare':
        return compare(net, batch, sys.argv[4])
    return measure(name, net, batch, int(sys.argv[4]))


sys.exit(main())
