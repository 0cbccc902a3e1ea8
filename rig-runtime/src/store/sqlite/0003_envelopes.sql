-- Envelopes and what was taken from them (E1-E4). `spent_nanousd` and `reserved_nanousd` are the sums of the charges
-- and of the reservations under way, kept beside them so that a reservation need not add up.
CREATE TABLE envelopes (
    name             TEXT    NOT NULL PRIMARY KEY,
    cap_nanousd      INTEGER NOT NULL, -- set by the first opener
    spent_nanousd    INTEGER NOT NULL,
    reserved_nanousd INTEGER NOT NULL,
    opened           INTEGER NOT NULL  -- milliseconds since 1970, UTC
) STRICT;

CREATE TABLE charges (
    id               TEXT    NOT NULL PRIMARY KEY, -- that of the row in `inferences`
    envelope         TEXT    NOT NULL REFERENCES envelopes (name),
    reserved_nanousd INTEGER NOT NULL,
    charge_nanousd   INTEGER,                      -- NULL while the dispatch is under way
    lapses           INTEGER NOT NULL,             -- milliseconds since 1970, UTC
    lapsed           INTEGER NOT NULL              -- 1 where nobody settled in time, and the reservation is the charge
) STRICT;

CREATE INDEX charges_under_way ON charges (envelope, lapses) WHERE charge_nanousd IS NULL;
