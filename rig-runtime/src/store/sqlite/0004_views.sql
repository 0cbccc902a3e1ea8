-- For people who open the file; `Rig` reads the same.

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
GROUP BY route, provider, model;

-- What each tag has cost, by day (UTC). A row with two tags counts under both.
CREATE VIEW spend_by_tag AS
SELECT date(ts / 1000, 'unixepoch') AS day, own.key AS tag, own.value AS value,
       count(*) AS attempts,
       sum(cost_nanousd) / 1e9 AS cost_usd,
       sum(pricing_missing) AS unpriced
FROM inferences, json_each(tags) AS own
GROUP BY 1, 2, 3;

-- What each envelope holds. What has lapsed since somebody last asked for it is still among the reserved.
CREATE VIEW envelope_state AS
SELECT name,
       cap_nanousd / 1e9 AS cap_usd,
       spent_nanousd / 1e9 AS spent_usd,
       reserved_nanousd / 1e9 AS reserved_usd,
       max(0, cap_nanousd - spent_nanousd - reserved_nanousd) / 1e9 AS left_usd
FROM envelopes;
