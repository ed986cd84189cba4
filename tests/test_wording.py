"""Numbers and lists as pages and pictures write them."""

from sidelight._wording import count, grouped, listed, measured, percent, signed


def test_numbers_have_the_decimals_of_their_scale():
    assert measured(-2.3456, 20) == "−2.3"
    assert measured(-1e-15, 20) == "0.0"
    assert measured(1.5e-9, 1e-9) == "1.5e−09"
    assert measured(1234567.8, 2e6) == "1.23e+06"
    assert (signed(-0.04, 1), signed(0.26, 1), signed(-0.26, 1)) == ("0.0", "+0.3", "−0.3")


def test_shares_that_are_nearly_all_or_none_do_not_read_as_such():
    assert [percent(share) for share in (0, 0.001, 0.5, 0.999, 1)] == ["0 %", "under 1 %", "50 %", "over 99 %", "100 %"]


def test_counts_and_lists():
    assert grouped(1234567) == "1\u202f234\u202f567"
    assert (count(1, "row"), count(2, "row"), count(2, "class", "classes")) == ("1 row", "2 rows", "2 classes")
    assert [listed(["a", "b", "c"][:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
