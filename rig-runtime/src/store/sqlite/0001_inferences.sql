-- One row per attempt. The columns and their order are those of the contract (T1); `cost_nanousd` is what
-- is stored of the cost, since money is never a float, and `cost_usd` is how it is read.
CREATE TABLE inferences (
    id                 TEXT    NOT NULL PRIMARY KEY,
    ts                 INTEGER NOT NULL, -- milliseconds since 1970, UTC
    run_id             TEXT    NOT NULL,
    route              TEXT    NOT NULL,
    route_version      INTEGER NOT NULL,
    provider           TEXT    NOT NULL,
    model              TEXT    NOT NULL,
    requested_tier     TEXT,
    served_tier        TEXT,
    tokens_in          INTEGER,
    tokens_out         INTEGER,
    tokens_cached      INTEGER,
    tokens_cache_write INTEGER,
    cost_usd           REAL    GENERATED ALWAYS AS (cost_nanousd / 1e9) VIRTUAL,
    pricing_missing    INTEGER NOT NULL,
    latency_ms         INTEGER NOT NULL,
    ttfb_ms            INTEGER,
    failure_class      TEXT,             -- NULL for a conformant answer
    attempt            INTEGER NOT NULL,
    tags               TEXT    NOT NULL, -- a JSON object of strings
    served_variant     TEXT,
    repaired_by        TEXT,
    cache_key          TEXT,
    prefix_fingerprint TEXT,
    lane               TEXT    NOT NULL,
    cost_nanousd       INTEGER NOT NULL
) STRICT;

CREATE INDEX inferences_by_run ON inferences (run_id, attempt);
CREATE INDEX inferences_by_route ON inferences (route, ts);
