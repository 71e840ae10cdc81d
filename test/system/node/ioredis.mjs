// Uses baton through the npm client `ioredis`: node ioredis.mjs SOCKET SOCKET. Prints one JSON object; the caller checks it.
import { Redis } from "ioredis";

const [here, there] = process.argv.slice(2);
const open = (path) => new Redis({ path, connectionName: "io", retryStrategy: null });
const holder = open(here), other = open(there), listener = open(there);
const found = {};

found.heard = new Promise((resolve) => listener.on("message", (channel, message) => resolve([channel, message])));
await listener.subscribe("io");
found.name = await holder.client("GETNAME");
found.fence = await holder.call("LOCK", "io");
found.busy = await other.call("LOCK", "io", "NOWAIT");
found.heard = await found.heard;
found.pipeline = await holder.pipeline().call("UNLOCK", "io").call("UNLOCK", "io").echo("last").exec();
found.multi = await other.multi().call("LOCK", "io-multi").exec().catch((error) => error.message);
found.free = JSON.parse(await holder.call("STATUS", "io*")).locks;
found.reset = await other.call("RESET");
for (const client of [holder, other, listener]) await client.quit();
console.log(JSON.stringify(found));
