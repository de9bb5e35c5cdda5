-- SPDX-License-Identifier: MIT
-- What an interpreted language does all day: small objects, strings, tables, closures, floating point.
-- Prints one line a part; the lines are the same on every machine.

local function trees(depth)
    if depth == 0 then
        return { false, false }
    end
    return { trees(depth - 1), trees(depth - 1) }
end

local function nodes(tree)
    return tree[1] and 1 + nodes(tree[1]) + nodes(tree[2]) or 1
end

local count = 0
for depth = 4, 14 do
    count = count + nodes(trees(depth))
end
print("trees", count)

-- A linear congruential generator, the same everywhere.
local seed = 42
local function random(n)
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    return (seed >> 8) % n
end

local words, seen = {}, {}
for i = 1, 30000 do
    local letters = {}
    for k = 1, 3 + random(5) do
        letters[k] = string.char(97 + random(26))
    end
    words[i] = table.concat(letters)
    seen[words[i]] = (seen[words[i]] or 0) + 1
end
table.sort(words, function(a, b)
    if #a ~= #b then
        return #a < #b
    end
    return a < b
end)
print("sorted", words[1], words[15000], words[30000], seen[words[1]])

local text = table.concat(words, " ")
local replaced, times = text:gsub("([aeiou])(%w)", "%2%1")
print("replaced", #replaced, times, select(2, replaced:gsub("ab+", "")))

-- Bodies that attract each other.
local bodies = {}
for i = 1, 5 do
    bodies[i] = { x = i * 1.5, y = 7 / i, z = i - 2.5, u = 0.1 * i, v = 0.3 - 0.1 * i, w = 0.05, mass = 1 / i }
end
local function step(dt)
    for i = 1, #bodies do
        local a = bodies[i]
        for k = i + 1, #bodies do
            local b = bodies[k]
            local x, y, z = a.x - b.x, a.y - b.y, a.z - b.z
            local square = x * x + y * y + z * z + 0.01
            local force = dt / (square * math.sqrt(square))
            a.u, a.v, a.w = a.u - x * b.mass * force, a.v - y * b.mass * force, a.w - z * b.mass * force
            b.u, b.v, b.w = b.u + x * a.mass * force, b.v + y * a.mass * force, b.w + z * a.mass * force
        end
    end
    for _, a in ipairs(bodies) do
        a.x, a.y, a.z = a.x + dt * a.u, a.y + dt * a.v, a.z + dt * a.w
    end
end
for _ = 1, 40000 do
    step(0.001)
end
print("bodies", string.format("%.15g %.15g", bodies[1].x, bodies[5].w))

local size, primes = 400000, 0
local composite = {}
for i = 2, size do
    if not composite[i] then
        primes = primes + 1
        for k = i * i, size, i do
            composite[k] = true
        end
    end
end
print("primes", primes)

local generator = coroutine.wrap(function()
    local a, b = 0, 1
    while true do
        coroutine.yield(a)
        a, b = b, (a + b) % 1000003
    end
end)
local sum = 0
for _ = 1, 200000 do
    sum = sum + generator()
end
print("coroutine", sum)
