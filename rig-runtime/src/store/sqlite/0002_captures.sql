-- The variables and the output of served attempts, of routes that ask for it (T3). Beside the rows and in none of
-- them, so that whoever reads rows cannot come across it.
CREATE TABLE captures (
    id            TEXT    NOT NULL PRIMARY KEY REFERENCES inferences (id),
    ts            INTEGER NOT NULL, -- milliseconds since 1970, UTC
    run_id        TEXT    NOT NULL,
    route         TEXT    NOT NULL,
    route_version INTEGER NOT NULL,
    variables     TEXT    NOT NULL, -- a JSON object
    output        TEXT    NOT NULL
) STRICT;

CREATE INDEX captures_by_route ON captures (route, ts);
