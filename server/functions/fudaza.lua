#!lua name=fudaza_3

-- What must happen in the store as one step. Runs unchanged on Redis >= 7.0 and Valkey >= 7.2, alone or in a cluster.
--
-- Whoever changes what a function takes, does or answers counts the number in all names up, so that old and new
-- servers can share a store while an upgrade rolls through. Function names are global in a store: they carry it too.
--
-- A script is not rolled back when it fails half-way. So: all checks first, then one write after the other that cannot
-- fail, and what may fail (the wake-up) last and in a pcall.
--
-- The last argument of a function that needs the time is its source: '' for the store's own clock, or milliseconds.

local function now(source)
  if source ~= '' then return tonumber(source) end
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Lua's own conversion rounds numbers of this size.
local function whole(number)
  return string.format('%.0f', number)
end

-- Where a log ends: the version and hash of its last entry. The log itself is the only place that says so.
local NOTHING = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
local function head(log)
  local last = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)[1]
  if not last then return 0, NOTHING end
  return tonumber(string.match(last[1], '^%d+')), last[2][2]
end

-- KEYS log  ARGV expected version, expected hash, entry, its hash, wake-up channel, how often the appender listens there
-- {} or, where the log ends elsewhere, {version, hash}
local function append(keys, args)
  local version, hash = head(keys[1])
  if version ~= tonumber(args[1]) or hash ~= args[2] then return {version, hash} end
  -- Who appends knows it. Where nobody else listens, as on a single node, telling would cost more than the entry.
  local listeners = redis.call('PUBSUB', 'SHARDNUMSUB', args[5])[2]
  local next_version = whole(version + 1)
  redis.call('XADD', keys[1], next_version .. '-0', 'h', args[4], 'd', args[3])
  if listeners > tonumber(args[6]) then redis.pcall('SPUBLISH', args[5], next_version) end
  return {}
end

-- KEYS logs; where each ends: {version, hash} for each of them
local function ends(keys)
  local found = {}
  for place, log in ipairs(keys) do found[place] = {head(log)} end
  return found
end

-- Milliseconds. Declared as a writer, so that a store that would refuse an append (full, read-only, disk error)
-- refuses this as well.
local function probe()
  return now('')
end

-- KEYS nodes, alive, outages  ARGV node or '', milliseconds to live, length of an outage, most outages, time source
-- all that live
local function beat(keys, args)
  local at = now(args[5])
  redis.call('ZREMRANGEBYSCORE', keys[1], '-inf', whole(at))
  if args[1] ~= '' then
    local last = redis.call('GET', keys[2])
    if last and at - tonumber(last) > tonumber(args[3]) then
      redis.call('RPUSH', keys[3], last .. ':' .. whole(at))
      redis.call('LTRIM', keys[3], -tonumber(args[4]), -1)
    end
    redis.call('SET', keys[2], whole(at))
    redis.call('ZADD', keys[1], whole(at + tonumber(args[2])), args[1])
  end
  return redis.call('ZRANGE', keys[1], 0, -1)
end

local function take_out(keys, rooms)
  for _, room in ipairs(rooms) do
    redis.call('ZREM', keys[1], room)
    redis.call('HDEL', keys[2], room)
  end
end

-- Take out the first ones of those that are more than `most`, and say how many that was. What is left is taken out by
-- the next call: none may keep the store busy for long.
local function take_out_over(keys, most)
  local over = math.min(redis.call('ZCARD', keys[1]) - most, 100)
  if over <= 0 then return 0 end
  take_out(keys, redis.call('ZRANGE', keys[1], 0, over - 1))
  return over
end

-- KEYS expiries, summaries  ARGV room, game, summary, milliseconds to live, most rooms, time source
-- how many rooms had to make room
local function list(keys, args)
  local at = now(args[6])
  take_out(keys, redis.call('ZRANGE', keys[1], '-inf', whole(at), 'BYSCORE', 'LIMIT', 0, 100))
  redis.call('ZADD', keys[1], whole(at + tonumber(args[4])), args[1])
  redis.call('HSET', keys[2], args[1], args[2] .. '\0' .. args[3])
  return take_out_over(keys, tonumber(args[5]))
end

-- KEYS expiries, summaries  ARGV room
local function unlist(keys, args)
  take_out(keys, {args[1]})
  return 1
end

-- KEYS expiries, summaries  ARGV game or '', most summaries, time source; the summaries, latest first
local function listed(keys, args)
  local at, most, from = now(args[3]), tonumber(args[2]), 0
  local found = {}
  repeat
    local rooms = redis.call('ZRANGE', keys[1], '+inf', '(' .. whole(at), 'BYSCORE', 'REV', 'LIMIT', from, 100)
    for _, room in ipairs(rooms) do
      local stored = redis.call('HGET', keys[2], room)
      if stored and #found < most then
        local cut = string.find(stored, '\0', 1, true)
        if args[1] == '' or args[1] == string.sub(stored, 1, cut - 1) then
          found[#found + 1] = string.sub(stored, cut + 1)
        end
      end
    end
    from = from + 100
  until #rooms < 100 or #found >= most
  return found
end

-- KEYS order, records  ARGV name, record, milliseconds to live, most records, time source
-- how many records had to make room
local function archive(keys, args)
  local at = now(args[5])
  if redis.call('HSETNX', keys[2], args[1], args[2]) == 1 then
    redis.call('ZADD', keys[1], whole(at), args[1])
    redis.call('PEXPIRE', keys[1], args[3])
    redis.call('PEXPIRE', keys[2], args[3])
  end
  take_out(keys, redis.call('ZRANGE', keys[1], '-inf', whole(at - tonumber(args[3])), 'BYSCORE', 'LIMIT', 0, 100))
  return take_out_over(keys, tonumber(args[4]))
end

-- KEYS orders  ARGV order, most orders. Orders are numbered, so that whoever looks too late knows how many it missed.
local function order(keys, args)
  local last = redis.call('XREVRANGE', keys[1], '+', '-', 'COUNT', 1)[1]
  local number = last and tonumber(last[2][4] or 0) + 1 or 1
  redis.call('XADD', keys[1], 'MAXLEN', args[2], '*', 'order', args[1], 'number', whole(number))
  return number
end

-- KEYS bucket  ARGV tokens a second, burst, tokens to take or (negative) to give back, time source
-- 0, or the milliseconds until there is a token: then nothing was taken
local function take(keys, args)
  local rate, burst, tokens, at = tonumber(args[1]) / 1000, tonumber(args[2]), tonumber(args[3]), now(args[4])
  local stored = redis.call('HMGET', keys[1], 'tokens', 'at')
  local there = tonumber(stored[1] or burst) + math.max(0, at - tonumber(stored[2] or at)) * rate
  there = math.min(burst, there)
  if tokens > 0 and there < 1 then return math.ceil((1 - there) / rate) end
  there = math.min(burst, there - tokens)
  redis.call('HSET', keys[1], 'tokens', tostring(there), 'at', whole(at))
  redis.call('PEXPIRE', keys[1], whole(math.ceil((burst - there) / rate)))
  return 0
end

redis.register_function('fudaza_3_append', append)
redis.register_function('fudaza_3_take', take)
redis.register_function('fudaza_3_probe', probe)
redis.register_function('fudaza_3_list', list)
redis.register_function('fudaza_3_archive', archive)
redis.register_function('fudaza_3_order', order)
-- These must go on in a full store: what they keep is small and bounded, or they only take away.
redis.register_function{function_name='fudaza_3_beat', callback=beat, flags={'allow-oom'}}
redis.register_function{function_name='fudaza_3_unlist', callback=unlist, flags={'allow-oom'}}
redis.register_function{function_name='fudaza_3_ends', callback=ends, flags={'no-writes'}}
redis.register_function{function_name='fudaza_3_listed', callback=listed, flags={'no-writes'}}
