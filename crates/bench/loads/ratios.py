"""Ratios of two targets, and what a program's and a survey's say together."""

from dataclasses import dataclass
from math import comb
from statistics import median


@dataclass(frozen=True)
class Ratio:
    """How many times as long the second of two targets takes as the first."""

    value: float
    low: float
    high: float

    def side(self) -> int:
        """-1: the second is faster; 1: it is slower; 0: the interval does not say."""
        return (self.low > 1) - (self.high < 1)

    def __str__(self) -> str:
        return f"{self.value:.2f}x [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True)
class Estimate:
    """What a survey says of two targets under a load."""

    ratio: Ratio
    is_real: bool
    """Whether its verdict is that they differ: it compares many, and adjusts for that."""

    def side(self) -> int:
        return self.ratio.side() if self.is_real else 0

    def __str__(self) -> str:
        return str(self.ratio) if self.is_real else f"{self.ratio}, not told apart"


LEVEL = 0.95


def of_rounds(first: list[float], second: list[float]) -> Ratio:
    """The median of the ratios of each round, with the exact interval between two order
    statistics: the k-th smallest and the k-th largest, for the largest k with which at least 95 %
    of such intervals hold the median (David & Nagaraja, "Order Statistics", section 7.1)."""
    ratios = sorted(two / one for one, two in zip(first, second, strict=True))
    count = len(ratios)
    rank = rank_of_interval(count)
    if rank == 0:
        raise ValueError(f"{count} rounds are too few for an interval: at least 6 are needed")
    return Ratio(median(ratios), ratios[rank - 1], ratios[count - rank])


def rank_of_interval(count: int) -> int:
    """The k above; 0 where even the smallest and the largest value hold the median too rarely."""
    outside = 0.0
    for rank in range(count // 2 + 1):
        outside += 2 * comb(count, rank) / 2**count
        if outside > 1 - LEVEL:
            return rank
    return 0


HOLDS = "holds"
CONTRADICTED = "contradicted"
NOT_SHOWN = "not shown"


def ranking(program: Ratio, survey: Estimate | None) -> str:
    """Whether the ranking of two targets in a survey is that of a program."""
    if survey is None or program.side() == 0 or survey.side() == 0:
        return NOT_SHOWN
    return HOLDS if program.side() == survey.side() else CONTRADICTED
