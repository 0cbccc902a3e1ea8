-- What the SQLite file has, column for column; docs/telemetry.md explains them. Counts and times are BIGINT, flags
-- BOOLEAN, tags JSONB.
CREATE TABLE inferences (
    id                 TEXT    NOT NULL PRIMARY KEY,
    ts                 BIGINT  NOT NULL, -- milliseconds since 1970, UTC
    run_id             TEXT    NOT NULL,
    route              TEXT    NOT NULL,
    route_version      BIGINT  NOT NULL,
    provider           TEXT    NOT NULL,
    model              TEXT    NOT NULL,
    requested_tier     TEXT,
    served_tier        TEXT,
    tokens_in          BIGINT,
    tokens_out         BIGINT,
    tokens_cached      BIGINT,
    tokens_cache_write BIGINT,
    cost_usd           DOUBLE PRECISION GENERATED ALWAYS AS (cost_nanousd / 1e9) STORED,
    pricing_missing    BOOLEAN NOT NULL,
    latency_ms         BIGINT  NOT NULL,
    ttfb_ms            BIGINT,
    failure_class      TEXT,             -- NULL for a conformant answer
    attempt            BIGINT  NOT NULL,
    tags               JSONB   NOT NULL, -- an object of strings
    served_variant     TEXT,
    repaired_by        TEXT,
    cache_key          TEXT,
    prefix_fingerprint TEXT,
    lane               TEXT    NOT NULL,
    cost_nanousd       BIGINT  NOT NULL,
    traceparent        TEXT,
    place              BIGINT  NOT NULL GENERATED ALWAYS AS IDENTITY -- what exporters go by
);

CREATE UNIQUE INDEX inferences_by_place ON inferences (place);

CREATE INDEX inferences_by_run ON inferences (run_id, attempt);
CREATE INDEX inferences_by_route ON inferences (route, ts);
CREATE INDEX inferences_by_time ON inferences (ts);

CREATE TABLE captures (
    id            TEXT   NOT NULL PRIMARY KEY REFERENCES inferences (id),
    ts            BIGINT NOT NULL, -- milliseconds since 1970, UTC
    run_id        TEXT   NOT NULL,
    route         TEXT   NOT NULL,
    route_version BIGINT NOT NULL,
    variables     TEXT   NOT NULL, -- a JSON object
    output        TEXT   NOT NULL
);

CREATE INDEX captures_by_route ON captures (route, ts);

CREATE TABLE verdicts (
    id           TEXT   NOT NULL PRIMARY KEY,
    ts           BIGINT NOT NULL, -- milliseconds since 1970, UTC
    run_id       TEXT   NOT NULL,
    inference_id TEXT,            -- NULL where the verdict is about the run
    verdict      TEXT   NOT NULL, -- 'up' or 'down'
    score        DOUBLE PRECISION,
    note         TEXT,
    source       TEXT
);

CREATE INDEX verdicts_by_run ON verdicts (run_id, ts);

CREATE TABLE exports (
    exporter TEXT   NOT NULL PRIMARY KEY,
    cursor   TEXT,   -- NULL before the first row
    worker   TEXT,   -- NULL while it is nobody's turn
    taken    BIGINT, -- milliseconds since 1970, UTC
    lapses   BIGINT  -- milliseconds since 1970, UTC
);

CREATE TABLE envelopes (
    name             TEXT   NOT NULL PRIMARY KEY,
    cap_nanousd      BIGINT NOT NULL, -- set by the first opener
    spent_nanousd    BIGINT NOT NULL,
    reserved_nanousd BIGINT NOT NULL,
    opened           BIGINT NOT NULL  -- milliseconds since 1970, UTC
);

CREATE TABLE charges (
    id               TEXT    NOT NULL PRIMARY KEY, -- that of the row in `inferences`
    envelope         TEXT    NOT NULL REFERENCES envelopes (name),
    reserved_nanousd BIGINT  NOT NULL,
    charge_nanousd   BIGINT,                       -- NULL while the dispatch is under way
    lapses           BIGINT  NOT NULL,             -- milliseconds since 1970, UTC
    lapsed           BOOLEAN NOT NULL              -- where nobody settled in time, and the reservation is the charge
);

CREATE INDEX charges_under_way ON charges (envelope, lapses) WHERE charge_nanousd IS NULL;

-- How long served attempts took (T6): the least latency that so many in a hundred do not exceed.
CREATE VIEW observed_latency AS
WITH ranked AS (
    SELECT route, provider, model, latency_ms,
           row_number() OVER (PARTITION BY route, provider, model ORDER BY latency_ms) AS place,
           count(*) OVER (PARTITION BY route, provider, model) AS attempts
    FROM inferences
    WHERE failure_class IS NULL
)
SELECT route, provider, model, attempts,
       min(latency_ms) FILTER (WHERE place * 100 >= attempts * 50) AS p50_ms,
       min(latency_ms) FILTER (WHERE place * 100 >= attempts * 90) AS p90_ms,
       min(latency_ms) FILTER (WHERE place * 100 >= attempts * 99) AS p99_ms
FROM ranked
GROUP BY route, provider, model, attempts;

-- What each tag has cost, by day (UTC). A row with two tags counts under both.
CREATE VIEW spend_by_tag AS
SELECT to_char(to_timestamp(ts / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
       own.key AS tag, own.value AS value,
       count(*) AS attempts,
       (sum(cost_nanousd) / 1e9)::DOUBLE PRECISION AS cost_usd,
       count(*) FILTER (WHERE pricing_missing) AS unpriced
FROM inferences, jsonb_each_text(tags) AS own
GROUP BY 1, 2, 3;

-- What each envelope holds. What has lapsed since somebody last asked for it is still among the reserved.
CREATE VIEW envelope_state AS
SELECT name,
       (cap_nanousd / 1e9)::DOUBLE PRECISION AS cap_usd,
       (spent_nanousd / 1e9)::DOUBLE PRECISION AS spent_usd,
       (reserved_nanousd / 1e9)::DOUBLE PRECISION AS reserved_usd,
       (greatest(0, cap_nanousd - spent_nanousd - reserved_nanousd) / 1e9)::DOUBLE PRECISION AS left_usd
FROM envelopes;
