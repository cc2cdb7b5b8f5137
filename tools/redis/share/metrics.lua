-- SPDX-License-Identifier: BSD-2-Clause
-- metrics.lua: the figures of INFO tamis for prometheus-redis-exporter, as its option -script wants them: names and
-- values in turn.  It shows only those fields of INFO that it knows.
local stats, metrics = redis.call('TAMIS.STATS'), {}
for i = 1, #stats, 2 do
    metrics[i] = 'tamis_' .. (type(stats[i]) == 'table' and stats[i].ok or stats[i])
    metrics[i + 1] = string.format('%.0f', stats[i + 1])
end
return metrics
