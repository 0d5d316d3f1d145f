"""What a stage may draw. One place says what is switched off, and why."""

# Nothing is off but what sinew does not do yet; each line goes when the feature lands.
OFF = frozenset(
    {
    }
)


def on(feature):
    return feature not in OFF
