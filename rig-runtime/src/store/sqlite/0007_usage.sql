-- Whether the attempt may have used more than its provider reported, so that its cost is a lower bound.
ALTER TABLE inferences ADD COLUMN usage_missing INTEGER NOT NULL DEFAULT 0;

-- How often the provider searched the web itself; NULL where it does not say, or was not asked to.
ALTER TABLE inferences ADD COLUMN searches INTEGER;

DROP VIEW spend_by_tag;

-- What each tag has cost, by day (UTC). A row with two tags counts under both.
CREATE VIEW spend_by_tag AS
SELECT date(ts / 1000, 'unixepoch') AS day, own.key AS tag, own.value AS value,
       count(*) AS attempts,
       total(cost_nanousd) / 1e9 AS cost_usd,
       sum(pricing_missing) AS unpriced,
       sum(usage_missing) AS usage_missing
FROM inferences, json_each(tags) AS own
GROUP BY 1, 2, 3;
