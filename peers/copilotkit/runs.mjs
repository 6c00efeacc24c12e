// The scenarios through the runtime of CopilotKit, as its pages use it: node runs.mjs URL
process.env.COPILOTKIT_TELEMETRY_DISABLED = 'true';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { HttpAgent, runHttpRequest, transformHttpEventStream } from '@ag-ui/client';
import { CopilotRuntime, InMemoryAgentRunner } from '@copilotkit/runtime/v2';
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node';
import { scenarios } from '../agui/scenarios.mjs';

const url = process.argv[2];
const parley = (type) => new HttpAgent({ url: `${url}/ag-ui/${type}` });
const runtime = new CopilotRuntime({
  agents: { 'agent-code': parley('agent-code'), supervisor: parley('supervisor') },
  runner: new InMemoryAgentRunner(),
});
const server = createServer(createCopilotNodeListener({ runtime, basePath: '/api/copilotkit' }));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const base = `http://127.0.0.1:${server.address().port}/api/copilotkit`;
console.error = () => {};

// What the runtime remembers of a thread.
class Reader extends HttpAgent {
  connect(input) {
    const body = JSON.stringify(input);
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    return transformHttpEventStream(runHttpRequest(() => fetch(this.url.replace(/run$/, 'connect'), init)));
  }
}

const client = (type, threadId) => new HttpAgent({ url: `${base}/agent/${type}/run`, threadId });
async function reader(agent) {
  const late = new Reader({ url: agent.url, threadId: agent.threadId });
  await late.connectAgent();
  return late;
}

await scenarios('copilotkit', client, reader);
console.log('ok');
process.exit(0);
