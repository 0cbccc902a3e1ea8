-- What a destination refused while it took other rows, and what no exporter can send (T9). The rows stay in `inferences`.
CREATE TABLE export_set_aside (
    exporter TEXT   NOT NULL,
    id       TEXT   NOT NULL, -- that of the row in `inferences`
    ts       BIGINT NOT NULL, -- when it was set aside, in milliseconds since 1970, UTC
    reason   TEXT   NOT NULL,
    PRIMARY KEY (id, exporter)
);

-- Why an exporter has stopped sending, until its destination takes rows again; NULL while nothing is wrong.
ALTER TABLE exports ADD COLUMN fault TEXT;
ALTER TABLE exports ADD COLUMN fault_ts BIGINT; -- since when, in milliseconds since 1970, UTC
