"""Trains the table of word vectors on what pack.ts has written, tries it on the development packages, and quantises it.

python3 training/train.py PACKED OUT NAME [--key value ...]

PACKED may be a folder, or the .tar.xz of it. It runs on a GPU if there is one.
"""
import argparse
import json
import math
import os
import struct
import tarfile
import tempfile
import time

import numpy as np
import torch
import torch.nn.functional as F

FIELDS = ["body", "name", "path", "container"]
BUCKETS = 8192
GROUP = 2048


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("packed")
    parser.add_argument("out")
    parser.add_argument("name")
    parser.add_argument("--dims", type=int, default=128)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch", type=int, default=8192)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--decay", type=float, default=0.02)
    parser.add_argument("--words_dropped", type=float, default=0.3)
    parser.add_argument("--question_words_dropped", type=float, default=0.1)
    parser.add_argument("--fields_dropped", type=float, default=0.3)
    parser.add_argument("--names", type=float, default=0.35, help="share of the groups that ask by name")
    parser.add_argument("--part", type=float, default=1.0, help="of the questions")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


class Packed:
    """Chunks and questions, all of them on the device."""

    def __init__(self, folder, device):
        read = lambda name, kind: np.fromfile(os.path.join(folder, name), dtype=kind)
        self.device = device
        self.rows, self.starts, self.lengths = {}, {}, {}
        for field in FIELDS + ["question"]:
            lengths = read(f"{field}.lengths", np.uint8).astype(np.int64)
            ends = np.cumsum(lengths)
            rows = read(f"{field}.rows", np.uint16).astype(np.int64)
            if field == "body":
                total = np.cumsum(rows)
                before = np.concatenate([[0], total])[ends - lengths]
                rows = total - np.repeat(before, lengths)
            self.rows[field] = torch.from_numpy(rows).to(device)
            self.lengths[field] = torch.from_numpy(lengths).to(device)
            self.starts[field] = torch.from_numpy(ends - lengths).to(device)
        counts = read("body.counts", np.uint8).astype(np.float32)
        self.counts = torch.log1p(torch.from_numpy(counts)).to(device)
        self.asked = torch.from_numpy(read("asked", np.uint32).astype(np.int64)).to(device)
        self.package = torch.from_numpy(read("package", np.uint16).astype(np.int64)).to(device)
        self.languages = open(os.path.join(folder, "languages.txt")).read().split()
        # Equal questions are no negatives of each other.
        hashes = torch.zeros(len(self.asked), dtype=torch.int64, device=device)
        mixed = (self.rows["question"] + 1) * 0x9E3779B97F4A7C1 % (2**61 - 1)
        owner = torch.repeat_interleave(torch.arange(len(self.asked), device=device), self.lengths["question"])
        self.question_hash = hashes.index_add_(0, owner, mixed)

    def take(self, field, items):
        """The words of these items one after the other, where each item begins, and whose each word is."""
        lengths = self.lengths[field][items]
        ends = torch.cumsum(lengths, 0)
        begins = ends - lengths
        owner = torch.repeat_interleave(torch.arange(len(items), device=self.device), lengths)
        places = torch.arange(len(owner), device=self.device) - begins[owner] + self.starts[field][items][owner]
        return self.rows[field][places], begins, owner, places


class Model(torch.nn.Module):
    def __init__(self, rows, dims, rarity):
        super().__init__()
        self.table = torch.nn.Parameter(torch.randn(rows, dims) / math.sqrt(dims))
        self.asking = torch.nn.Parameter(rarity.clone())
        self.answering = torch.nn.Parameter(rarity.clone())
        self.factors = torch.nn.Parameter(torch.tensor([1.0, 1.0, 0.5, 0.5]))
        self.heat = torch.nn.Parameter(torch.tensor(math.log(15.0)))

    def field(self, weights, taken, count, factor=None, dropped=0.0, removed=None):
        rows, begins, owner, _ = taken
        weight = F.softplus(weights)[rows]
        if factor is not None:
            weight = weight * factor
        if removed is not None:
            weight = weight * (~removed)
        if dropped > 0:
            weight = weight * (torch.rand_like(weight) >= dropped)
        squares = torch.zeros(count, device=rows.device).index_add_(0, owner, weight * weight)
        weight = weight * torch.rsqrt(squares + 1e-12)[owner]
        return F.embedding_bag(rows, self.table, begins, mode="sum", per_sample_weights=weight)

    def questions(self, taken, count, dropped=0.0):
        return F.normalize(self.field(self.asking, taken, count, dropped=dropped), dim=1, eps=1e-6)

    def chunks(self, data, items, dropped=0.0, fields_dropped=0.0, without_names=None):
        total = 0
        for number, field in enumerate(FIELDS):
            taken = data.take(field, items)
            if field == "name" and without_names is not None:
                kept = ~without_names
            else:
                kept = torch.ones(len(items), dtype=torch.bool, device=data.device)
            if fields_dropped > 0 and field != "body":
                kept = kept & (torch.rand(len(items), device=data.device) >= fields_dropped)
            factor, removed = None, None
            if field == "body":
                factor = data.counts[taken[3]]
                if without_names is not None:
                    named = data.take("name", items)
                    own = without_names[named[2]]
                    keys = named[2][own] * 65536 + named[0][own]
                    removed = torch.isin(taken[2] * 65536 + taken[0], keys)
            vector = self.field(self.answering, taken, len(items), factor, dropped, removed)
            total = total + self.factors[number] * vector * kept[:, None]
        return F.normalize(total, dim=1, eps=1e-6)


class Groups:
    """Groups of one kind and one language, packages whole: neighbours in a package are the hard negatives."""

    def __init__(self, data, names, part, generator):
        self.data, self.names, self.generator = data, names, generator
        languages = sorted(set(data.languages))
        language = torch.tensor([languages.index(each) for each in data.languages], device=data.device)
        questions = torch.arange(len(data.asked), device=data.device)
        if part < 1:
            questions = questions[torch.rand(len(questions), device=data.device) < part]
        named = torch.nonzero((data.lengths["name"] >= 2) & (data.lengths["body"] >= 8)).flatten()
        self.pools = []
        for number in range(len(languages)):
            self.pools.append((False, questions[language[data.package[data.asked[questions]]] == number]))
            self.pools.append((True, named[language[data.package[named]] == number]))
        self.waiting = {False: [], True: []}

    def fill(self, by_name):
        groups = []
        for kind, pool in self.pools:
            if kind != by_name or len(pool) == 0:
                continue
            package = self.data.package[pool if kind else self.data.asked[pool]]
            order = torch.rand(int(self.data.package.max()) + 1, device=self.data.device)
            mixed = torch.argsort(order[package] + 1e-6 * torch.rand(len(pool), device=self.data.device))
            ordered = pool[mixed]
            groups += [ordered[at : at + GROUP] for at in range(0, len(ordered), GROUP)]
        self.waiting[by_name] = [groups[at] for at in torch.randperm(len(groups)).tolist()]

    def next(self, size):
        taken, filled = [], 0
        while filled < size:
            by_name = torch.rand(1).item() < self.names
            if not self.waiting[by_name]:
                self.fill(by_name)
            group = self.waiting[by_name].pop()
            taken.append((by_name, group))
            filled += len(group)
        return taken


def step(model, data, groups, options):
    questions, chunks, hashes, without = [], [], [], []
    vectors = []
    for by_name, group in groups:
        taken = data.take("name" if by_name else "question", group)
        vectors.append(model.questions(taken, len(group), options.question_words_dropped))
        target = group if by_name else data.asked[group]
        chunks.append(target)
        without.append(torch.full((len(group),), by_name, device=data.device))
        hashes.append(-1 - group if by_name else data.question_hash[group])
    chunks, without, hashes = torch.cat(chunks), torch.cat(without), torch.cat(hashes)
    asked = torch.cat(vectors)
    answers = model.chunks(data, chunks, options.words_dropped, options.fields_dropped, without)
    logits = asked @ answers.T * model.heat.exp().clamp(max=100)
    same = (chunks[:, None] == chunks[None, :]) | (hashes[:, None] == hashes[None, :])
    same.fill_diagonal_(False)
    logits = logits.masked_fill(same, -1e4)
    right = torch.arange(len(chunks), device=data.device)
    return 0.7 * F.cross_entropy(logits, right) + 0.3 * F.cross_entropy(logits.T, right)


@torch.no_grad()
def evaluate(model, data, is_small=False):
    """Of each package: the mean reciprocal rank and the share among the first five, by the model alone."""
    found = []
    for package in range(len(data.languages)):
        chunks = torch.nonzero(data.package == package).flatten()
        asked = torch.nonzero(data.package[data.asked] == package).flatten()
        if len(asked) == 0:
            continue
        answers = model.chunks(data, chunks)
        if is_small:
            answers = torch.round(answers * 127 / answers.abs().amax(1, keepdim=True).clamp(min=1e-6))
            answers = F.normalize(answers, dim=1)
        vectors = model.questions(data.take("question", asked), len(asked))
        scores = vectors @ answers.T
        right = scores.gather(1, (data.asked[asked] - chunks[0])[:, None])
        rank = (scores > right).sum(1) + 1
        found.append((data.languages[package], (1 / rank).mean().item(), (rank <= 5).float().mean().item()))
    return found


def export(model, words, path, options):
    """Magic, length of the header, header, then scales, weights of both sides, the table, the words."""
    with torch.no_grad():
        table = model.table.float().cpu().numpy()
        asking = F.softplus(model.asking).float().cpu().numpy()
        answering = F.softplus(model.answering).float().cpu().numpy()
        factors = model.factors.float().cpu().numpy()
    scales = np.abs(table).max(1) / 127
    small = np.round(table / np.maximum(scales, 1e-12)[:, None]).astype(np.int8)
    header = {
        "dims": table.shape[1],
        "words": len(words),
        "buckets": BUCKETS,
        "factors": {field: round(float(factor), 6) for field, factor in zip(FIELDS, factors)},
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    with open(path, "wb") as file:
        file.write(b"PULSEWV1" + struct.pack("<I", len(text)) + text)
        for values in (scales, asking, answering):
            file.write(values.astype("<f4").tobytes())
        file.write(small.tobytes())
        file.write("\n".join(words).encode())
    with torch.no_grad():
        model.table.copy_(torch.from_numpy(small * scales[:, None]))


def main():
    options = arguments()
    torch.manual_seed(options.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    folder = options.packed
    if not os.path.isdir(folder):
        folder = tempfile.mkdtemp()
        tarfile.open(options.packed).extractall(folder)
    words = open(os.path.join(folder, "words.txt")).read().split("\n")[:-1]
    data = Packed(os.path.join(folder, "learn"), device)
    develop = Packed(os.path.join(folder, "develop"), device)
    rows = len(words) + BUCKETS
    having = torch.bincount(data.rows["body"], minlength=rows).float()
    rarity = torch.log(1 + len(data.package) / (1 + having))
    model = Model(rows, options.dims, rarity / rarity.mean()).to(device)
    decayed = [model.table]
    others = [each for name, each in model.named_parameters() if name != "table"]
    optimiser = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": options.decay}, {"params": others, "weight_decay": 0.0}],
        lr=options.rate,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda at: min(1, (at + 1) / 30) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * at / options.steps))),
    )
    groups = Groups(data, options.names, options.part, None)
    began = time.time()
    for at in range(options.steps):
        loss = step(model, data, groups.next(options.batch), options)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if at % max(1, options.steps // 6) == 0:
            print(f"{options.name} step {at} loss {loss.item():.3f} heat {model.heat.exp().item():.1f} {time.time() - began:.0f} s", flush=True)
    whole = evaluate(model, develop)
    os.makedirs(options.out, exist_ok=True)
    export(model, words, os.path.join(options.out, f"{options.name}.bin"), options)
    small = evaluate(model, develop, is_small=True)
    mean = lambda found, at: sum(each[at] for each in found) / len(found)
    print(f"{options.name}: {vars(options)}")
    print(f"{options.name}: factors {[round(f, 2) for f in model.factors.tolist()]}, {time.time() - began:.0f} s")
    print(f"{options.name}: development MRR {mean(whole, 1):.4f} R@5 {mean(whole, 2):.4f}; int8 MRR {mean(small, 1):.4f} R@5 {mean(small, 2):.4f}")
    print(f"{options.name}: {' '.join(f'{language} {mrr:.3f}' for language, mrr, _ in small)}", flush=True)


main()
