// The scenarios with a client of AG-UI 0.0.x: node runs.mjs URL
import { HttpAgent, runHttpRequest, transformHttpEventStream } from '@ag-ui/client';
import { scenarios } from '../agui/scenarios.mjs';

const url = process.argv[2];
console.error = () => {};

// AG-UI has no request that reads a thread again.
class Reader extends HttpAgent {
  connect() {
    const events = `${this.url}/threads/${this.threadId}/events?protocolVersion=0.0`;
    return transformHttpEventStream(runHttpRequest(() => fetch(events)));
  }
}

const client = (type, threadId) => new HttpAgent({ url: `${url}/ag-ui/${type}`, threadId });
async function reader(agent) {
  const late = new Reader({ url: agent.url, threadId: agent.threadId });
  await late.connectAgent();
  return late;
}

await scenarios('agui-0', client, reader);
console.log('ok');
