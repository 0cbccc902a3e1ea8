-- Whether the attempt may have used more than its provider reported, so that its cost is a lower bound.
ALTER TABLE inferences ADD COLUMN usage_missing BOOLEAN NOT NULL DEFAULT false;

-- How often the provider searched the web itself; NULL where it does not say, or was not asked to.
ALTER TABLE inferences ADD COLUMN searches BIGINT;

DROP VIEW spend_by_tag;

-- What each tag has cost, by day (UTC). A row with two tags counts under both.
CREATE VIEW spend_by_tag AS
SELECT to_char(to_timestamp(ts / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
       own.key AS tag, own.value AS value,
       count(*) AS attempts,
       (sum(cost_nanousd) / 1e9)::DOUBLE PRECISION AS cost_usd,
       count(*) FILTER (WHERE pricing_missing) AS unpriced,
       count(*) FILTER (WHERE usage_missing) AS usage_missing
FROM inferences, jsonb_each_text(tags) AS own
GROUP BY 1, 2, 3;
