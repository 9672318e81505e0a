"""Hand-made fronts with known answers, and the known figures of GB300 with MTP."""

import numpy as np
import pytest
from evidence.errors import InputError
from evidence.frontier import METHODS, Front, pareto, steffen_slopes
from evidence.points import OperatingPoint
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline, PchipInterpolator

# mean TPOT ms, median TPOT ms, mixed tok/s per package: DeepSeek R1 on GB300 with MTP
MTP = [
    (32.703135182830735, 33.561001647961106, 18131.555773458425),
    (13.527406277272691, 14.557582784228629, 14550.87133748268),
    (9.591796674166915, 10.320322778277745, 12179.959947700505),
    (6.174597921174912, 6.65646398306822, 6977.574453252105),
    (5.525165625295783, 5.984274275085108, 4730.811339763853),
    (4.6900364699059125, 5.076128667209518, 1612.4679020904239),
    (3.926335198725436, 4.221237027603705, 998.6830851790432),
    (3.5232093452133824, 3.8037855643335288, 726.7246261556701),
    (3.0393795247936883, 3.2010823525158623, 315.2530560458588),
]


def point(mean=None, median=None, throughput=100.0, *, framework="dynamo-trt", concurrency=1):
    return OperatingPoint(
        model="m", hardware="h", precision="fp4", decoding="stp", framework=framework,
        concurrency=concurrency, throughput_per_gpu_tok_s=str(throughput),
        mean_tpot_ms=mean and str(mean), median_tpot_ms=median and str(median),
        prefill_gpus=1, decode_gpus=1, isl_tokens=8192, osl_tokens=1024,
        source="some-source", attribution="row",
    )  # fmt: skip


def front_of(pairs, **options):
    """A front from (speed, throughput) pairs."""
    return Front.of(
        [point(mean=1000 / x, throughput=y) for x, y in pairs], statistic="mean", **options
    )


def mtp():
    return [point(*row) for row in MTP]


def test_a_point_that_another_beats_in_both_is_not_on_the_front():
    assert pareto([10, 20, 15, 5], [100, 50, 40, 90]) == [0, 1]


def test_of_equal_speeds_the_higher_throughput_stays():
    assert pareto([10, 10, 20], [100, 120, 50]) == [1, 2]


def test_equal_points_count_once():
    assert pareto([10, 10], [100, 100]) == [0]


def test_slopes_worked_out_by_hand():
    # h = 1, 2; s = -4, -1; p = (-4*2 + -1*1) / 3 = -3; least = min(4, 1, 1.5) = 1; y' = -2
    # ends: (3*-4 + 2) / 2 = -5 and (3*-1 + 2) / 2 = -0.5
    slopes = steffen_slopes(np.array([0.0, 1.0, 3.0]), np.array([10.0, 6.0, 4.0]))
    assert slopes.tolist() == [-5.0, -2.0, -0.5]


def test_a_value_between_worked_out_by_hand():
    # the slopes above; the middle of [2, 4] is (6 + 4) / 2 + 2 (-2 + 0.5) / 8
    assert front_of([(1, 10), (2, 6), (4, 4)]).at(3).throughput == pytest.approx(4.625)


def test_two_points_are_joined_by_a_line():
    assert front_of([(10, 100), (20, 50)]).at(15).throughput == pytest.approx(75)


@pytest.mark.parametrize(
    ("statistic", "speed", "expected"),
    [
        ("mean", 169.415, (6101.991089585, 6096.967181482, 5991.787389290, 4730.811339764)),
        ("median", 170.026, (4363.313631530, 4426.093691253, 4258.513004255, 1612.467902090)),
    ],
)
def test_the_known_figures_at_the_comparators_speed(statistic, speed, expected):
    front = Front.of(mtp(), statistic=statistic)
    found = [front.at(speed, method=method).throughput for method in METHODS]
    assert found == pytest.approx(expected, rel=1e-9)


def test_the_known_figure_per_rated_kw():
    reading = Front.of(mtp(), statistic="mean").at(169.415)
    assert reading.throughput / 1.4 == pytest.approx(4358.565, abs=5e-4)


def test_pchip_would_give_another_answer():
    front = Front.of(mtp(), statistic="mean")
    pchip = float(PchipInterpolator(front.speeds, front.throughputs)(169.415))
    assert abs(pchip / front.at(169.415).throughput - 1) > 0.002


def test_outside_the_measured_range_the_edge_answers_and_says_so():
    front = front_of([(10, 100), (20, 50)])
    assert (front.at(5).throughput, front.at(5).clamped) == (100, "below")
    assert (front.at(25).throughput, front.at(25).clamped) == (50, "above")
    assert front.at(20).clamped is None and front.at(20).measured
    assert front.next_faster(25) is None


def test_only_between_points_is_a_reading_not_measured():
    front = front_of([(10, 100), (20, 50)])
    assert not front.at(15).measured and not front.at(15, method="linear").measured
    assert front.at(15, method="next_faster").measured
    assert front.next_faster(15) is front.fastest


def test_frameworks_apart_and_pooled():
    points = [
        point(mean=10, throughput=100),
        point(mean=20, throughput=300, framework="dynamo-sglang"),
        point(mean=20, throughput=200, concurrency=2),
    ]
    assert len(Front.of(points, statistic="mean").points) == 2
    assert Front.of(points, statistic="mean", framework="dynamo-trt").peak.concurrency == 2


def test_a_statistic_that_no_point_gives_is_refused():
    with pytest.raises(InputError, match="median TPOT"):
        Front.of([point(mean=5)], statistic="median")


def test_position_on_the_own_curve():
    front = front_of([(10, 100), (20, 50)])
    assert front.share_of_peak(front.fastest).middle == 0.5


@st.composite
def fronts(draw):
    count = draw(st.integers(2, 9))
    steps = draw(st.lists(st.floats(0.5, 50), min_size=2 * count, max_size=2 * count))
    speeds = np.cumsum(steps[:count])
    throughputs = np.cumsum(steps[count:])[::-1]
    return list(zip(speeds.tolist(), throughputs.tolist(), strict=True))


@given(fronts(), st.randoms(use_true_random=False))
def test_the_curve_is_monotone_passes_through_its_points_and_knows_no_order(pairs, random):
    front = front_of(pairs)
    shuffled = pairs[:]
    random.shuffle(shuffled)
    again = front_of(shuffled)
    assert again.speeds.tolist() == front.speeds.tolist()
    assert again.throughputs.tolist() == front.throughputs.tolist()
    x, y = front.speeds, front.throughputs
    curve = CubicHermiteSpline(x, y, steffen_slopes(x, y))
    assert curve(x) == pytest.approx(y)
    values = curve(np.linspace(x[0], x[-1], 200))
    assert np.all(np.diff(values) <= 1e-9 * y[0])
    assert values.max() <= y[0] * (1 + 1e-9) and values.min() >= y[-1] * (1 - 1e-9)
