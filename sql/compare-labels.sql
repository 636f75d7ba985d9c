-- Each stage for each value of each label, one below the other.
SELECT recipe, definition, kind, stage, name AS value, n, p50 AS p50_ns, p99 AS p99_ns, p99_low AS p99_low_ns,
       p99_high AS p99_high_ns, max_value AS max_ns
FROM percentiles
WHERE kind LIKE 'label %' AND unit = 'ns'
ORDER BY recipe, definition, kind, stage, value
