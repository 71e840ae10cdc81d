// Holds a lock until standard input ends; with the npm package redis.
//
//     npm ci && node lock.mjs LOCK MILLISECONDS
//
// Exit: 0 given back; 69 no node; 75 not free in time; 76 it was lost meanwhile.
import { createClient } from "redis";

const [lock, timeout] = process.argv.slice(2);

// A connection is a session. A new connection, made without our knowledge, would hold nothing.
const client = createClient({
  socket: { path: process.env.BATON_SOCKET ?? "/run/baton.sock", reconnectStrategy: false },
});

function end(code, text) {
  if (text) console.error(text);
  process.exitCode = code;
  process.stdin.destroy();
  if (client.isOpen) client.disconnect();
}

// Without a listener an error would end the process. The command that fails reports the error
// anyway.
client.on("error", () => {});

try {
  await client.connect();
  const fence = await client.sendCommand(["LOCK", lock, "TIMEOUT", timeout]);
  if (fence === null) {
    end(75, `${lock} is not free`);
  } else {
    console.log(`fence ${fence}`);
    for await (const line of process.stdin); // the work, with the fence for whatever checks it
    const held = await client.sendCommand(["UNLOCK", lock, String(fence)]).catch(() => 0);
    if (held === 1) end(0);
    else end(76, `${lock} was lost`);
  }
} catch (error) {
  end(69, error.message);
}
