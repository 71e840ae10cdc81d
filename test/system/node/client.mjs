// Uses baton through the npm client `redis`: node client.mjs SOCKET SOCKET VERSION. Prints one JSON object; the caller checks it.
import { createClient } from "redis";

const [here, there, version] = process.argv.slice(2);
const opened = [];

async function open(path) {
  const client = createClient({ socket: { path }, RESP: Number(version) });
  client.on("error", (error) => { throw error; });
  opened.push(client);
  return client.connect();
}

const holder = await open(here), other = await open(there), listener = await open(there);
const found = { heard: [] };
let heardAll;
const all = new Promise((resolve) => { heardAll = resolve; });
await listener.subscribe("npm", (message) => {
  found.heard.push(message);
  if (found.heard.length === 4) heardAll();
});
await listener.pSubscribe("np?", (message, channel) => { found.pattern = [channel, message]; });

found.ping = await holder.ping();
found.fence = await holder.sendCommand(["LOCK", "npm"]);
found.busy = await other.sendCommand(["LOCK", "npm", "NOWAIT"]);
const waits = other.sendCommand(["LOCK", "npm"]);
found.unlocked = await holder.sendCommand(["UNLOCK", "npm", String(found.fence)]);
found.next = await waits;
found.again = await other.sendCommand(["LOCK", "npm"]).catch((error) => error.message);
await other.sendCommand(["UNLOCK", "npm"]);
found.elected = await holder.sendCommand(["ELECT", "npm-boss", "me"]);
found.leader = await other.sendCommand(["LEADER", "npm-boss"]);
found.pipeline = await Promise.all([1, 2, 3].map((number) => holder.sendCommand(["PING", String(number)])));
found.status = JSON.parse(await holder.sendCommand(["STATUS", "npm-*"])).locks.map((lock) => lock.name);
await all;
await listener.unsubscribe("npm");
await listener.pUnsubscribe("np?");
for (const client of opened) await client.close();
console.log(JSON.stringify(found));
