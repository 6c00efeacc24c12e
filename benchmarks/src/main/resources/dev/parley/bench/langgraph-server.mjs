// Starts LangGraph's server, in memory, with a graph that streams 20 tokens without a model.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';

const GRAPH = `import { Annotation, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  messages: Annotation({ reducer: (all, more) => all.concat(more), default: () => [] }),
});

function answer(state, config) {
  const tokens = Array.from({ length: 20 }, (_, i) => 'token' + i + ' ');
  for (const token of tokens) config.writer({ token });
  return { messages: [tokens.join('')] };
}

export const graph = new StateGraph(State)
  .addNode('answer', answer)
  .addEdge('__start__', 'answer')
  .compile();
`;

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

writeFileSync('graph.mjs', GRAPH);
writeFileSync('langgraph.json', '{"node_version":"20","graphs":{"agent":"./graph.mjs:graph"},"env":{}}');
const port = await freePort();
const server = spawn(
  'node_modules/.bin/langgraphjs',
  ['dev', '--host', '127.0.0.1', '--port', String(port), '--no-browser', '--n-jobs-per-worker', '10'],
  // A group of its own: the server is several processes, which end together.
  { stdio: 'ignore', detached: true, env: { ...process.env, LOG_LEVEL: 'error' } },
);
const stop = () => {
  try {
    process.kill(-server.pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
  process.exit(0);
};
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
server.on('exit', stop);

for (;;) {
  const answer = await fetch(`http://127.0.0.1:${port}/ok`).catch(() => undefined);
  if (answer?.ok) break;
  await new Promise((resolve) => setTimeout(resolve, 100));
}
console.log(`ready ${port}`);
