r"""The Pareto front of operating points, and throughput at a given speed along it.

A point is on the front if no other gives at least its throughput at its speed or above; the
benchmark calls this side "upper left". Between the points of a front nothing was measured. The
benchmark's dashboard draws there Steffen's monotone cubic (M. Steffen, A simple method for
monotonic interpolation in one dimension, Astronomy and Astrophysics 239, 443, 1990):
with h_i = x_{i+1} - x_i and secants s_i = (y_{i+1} - y_i) / h_i the slope at an inner knot is

    p_i  = (s_{i-1} h_i + s_i h_{i-1}) / (h_{i-1} + h_i)
    y'_i = (sign s_{i-1} + sign s_i) min(|s_{i-1}|, |s_i|, |p_i| / 2)

so that every piece of the Hermite cubic is monotone and passes through its ends. At the two end
knots the dashboard (as d3's curveMonotoneX) takes y' = (3 s - y'_inner) / 2, which keeps the end
pieces monotone too; Steffen's own end rule differs from it only in those two pieces.
scipy has no Steffen interpolation: the slopes go to its CubicHermiteSpline. Its PCHIP has other
slopes and is another curve.

Outside the measured range the dashboard answers with the edge point; so does ``Front.at``, and
says on which side it was clamped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from .errors import InputError
from .points import OperatingPoint, Statistic
from .quantity import Quantity, ratio

Method = Literal["steffen", "linear", "log_linear", "next_faster"]
METHODS: tuple[Method, ...] = ("steffen", "linear", "log_linear", "next_faster")


def pareto(speeds: Sequence[float], throughputs: Sequence[float]) -> list[int]:
    """Indexes of the points on the front, from slowest to fastest.

    Of points that tie in both, the first stays.
    """
    order = sorted(range(len(speeds)), key=lambda i: (-speeds[i], -throughputs[i], i))
    front: list[int] = []
    best = -np.inf
    for i in order:
        if throughputs[i] > best:
            front.append(i)
            best = throughputs[i]
    return front[::-1]


def steffen_slopes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The slopes of the module's text at knots ``x`` (increasing), both of shape (n,), n >= 2."""
    h = np.diff(x)
    s = np.diff(y) / h
    if len(h) == 1:
        return np.array([s[0], s[0]])
    p = (s[:-1] * h[1:] + s[1:] * h[:-1]) / (h[:-1] + h[1:])
    least = np.minimum(np.minimum(np.abs(s[:-1]), np.abs(s[1:])), np.abs(p) / 2)
    inner = (np.sign(s[:-1]) + np.sign(s[1:])) * least
    first, last = (3 * s[0] - inner[0]) / 2, (3 * s[-1] - inner[-1]) / 2
    return np.concatenate([[first], inner, [last]])


@dataclass(frozen=True)
class Reading:
    """Throughput per package (mixed tok/s) read off a front at a speed.

    ``clamped`` is ``"below"`` or ``"above"`` where the speed lies outside the measured range and
    the edge point answers; ``measured`` where no interpolation entered.
    """

    throughput: float
    method: Method
    clamped: Literal["below", "above"] | None
    measured: bool


@dataclass(frozen=True)
class Front:
    """The points of a front, from slowest to fastest, with their speeds (tok/s/user)."""

    points: tuple[OperatingPoint, ...]
    statistic: Statistic
    speeds: np.ndarray
    throughputs: np.ndarray

    @classmethod
    def of(
        cls,
        points: Sequence[OperatingPoint],
        *,
        statistic: Statistic,
        framework: str | None = None,
    ) -> Front:
        """The front by mean or median TPOT, of one framework or of all pooled.

        Points without that statistic cannot take part.
        Raises ``InputError`` where none is left.
        """
        chosen = [
            point
            for point in points
            if point.tpot(statistic) is not None and framework in (None, point.framework)
        ]
        if not chosen:
            raise InputError(
                f"no operating point gives its {statistic} TPOT",
                mend="use the other statistic, or import rows that give it",
            )
        speeds = [1000 / float(getattr(point, f"{statistic}_tpot_ms")) for point in chosen]
        throughputs = [float(point.throughput_per_gpu_tok_s) for point in chosen]
        kept = pareto(speeds, throughputs)
        return cls(
            tuple(chosen[i] for i in kept),
            statistic,
            np.array([speeds[i] for i in kept]),
            np.array([throughputs[i] for i in kept]),
        )

    @property
    def peak(self) -> OperatingPoint:
        """The point with the highest throughput."""
        return self.points[0]

    @property
    def fastest(self) -> OperatingPoint:
        return self.points[-1]

    def next_faster(self, speed: float) -> OperatingPoint | None:
        """The measured point that gives at least ``speed``, with the most throughput."""
        index = int(np.searchsorted(self.speeds, speed))
        return self.points[index] if index < len(self.points) else None

    def at(self, speed: float, *, method: Method = "steffen") -> Reading:
        """Throughput per package at ``speed`` (tok/s/user), clamped to the measured range."""
        x, y = self.speeds, self.throughputs
        if speed <= x[0]:
            return Reading(float(y[0]), method, "below" if speed < x[0] else None, True)
        if speed >= x[-1]:
            return Reading(float(y[-1]), method, "above" if speed > x[-1] else None, True)
        right = int(np.searchsorted(x, speed))
        if x[right] == speed or method == "next_faster":
            return Reading(float(y[right]), method, None, True)
        if method == "steffen":
            value = CubicHermiteSpline(x, y, steffen_slopes(x, y))(speed)
        elif method == "linear":
            value = np.interp(speed, x, y)
        else:
            value = np.exp(np.interp(speed, x, np.log(y)))
        return Reading(float(value), method, None, False)

    def share_of_peak(self, point: OperatingPoint) -> Quantity:
        """Where ``point`` stands on its own curve: its throughput as a share of the peak."""
        return ratio(point.throughput, self.peak.throughput)
