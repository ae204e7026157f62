#!lua name=floor

-- The least that keeps a log's entries in order whoever writes: append where the log still ends as the writer thinks,
-- and wake whoever listens.
-- KEYS log  ARGV expected version, expected hash, entry, its hash, wake-up channel
redis.register_function('floor_append', function(keys, args)
  local last = redis.call('XREVRANGE', keys[1], '+', '-', 'COUNT', 1)[1]
  local version = last and tonumber(string.match(last[1], '^%d+')) or 0
  if version ~= tonumber(args[1]) or (last and last[2][2] ~= args[2]) then return {version} end
  local next_version = string.format('%.0f', version + 1)
  redis.call('XADD', keys[1], next_version .. '-0', 'h', args[4], 'd', args[3])
  redis.call('SPUBLISH', args[5], next_version)
  return {}
end)
