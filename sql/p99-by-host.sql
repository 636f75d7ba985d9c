-- Each stage of each host, the largest p99 of a stage first.
SELECT recipe, definition, stage, name AS host, n, p50 AS p50_ns, p99 AS p99_ns, p99_low AS p99_low_ns,
       p99_high AS p99_high_ns, max_value AS max_ns
FROM percentiles
WHERE kind = 'host' AND unit = 'ns'
ORDER BY recipe, definition, stage, p99_ns DESC, host
