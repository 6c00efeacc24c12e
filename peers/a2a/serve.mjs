// An A2A 1.0 server around the agent, made with the official SDK. Arguments: words that change what it can do.
import { DefaultRequestHandler, InMemoryTaskStore, AgentEvent } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { Role, TaskState } from '@a2a-js/sdk';
import { cancel, extension, steps } from './agent.mjs';
import { start, tell } from './console.mjs';

const wishes = new Set(process.argv.slice(2));
const id = () => crypto.randomUUID();
const states = {
  working: TaskState.TASK_STATE_WORKING,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  rejected: TaskState.TASK_STATE_REJECTED,
  canceled: TaskState.TASK_STATE_CANCELED,
  'input-required': TaskState.TASK_STATE_INPUT_REQUIRED,
  'auth-required': TaskState.TASK_STATE_AUTH_REQUIRED,
};

function part({ text, raw, data, filename = '', mediaType = '', metadata }) {
  const content =
    text !== undefined
      ? { $case: 'text', value: text }
      : raw !== undefined
        ? { $case: 'raw', value: Buffer.from(raw, 'base64') }
        : { $case: 'data', value: data };
  return { content, filename, mediaType, metadata };
}

class Executor {
  contexts = new Map();
  running = new Set();

  async execute(request, bus) {
    const { taskId, contextId, userMessage, task } = request;
    this.contexts.set(taskId, contextId);
    this.running.add(taskId);
    const text = userMessage.parts.map((one) => (one.content?.$case === 'text' ? one.content.value : '')).join('');
    tell('message', { text, messageId: userMessage.messageId, taskId, contextId, given: userMessage.taskId });
    const message = (parts, metadata) => ({
      messageId: id(),
      contextId,
      taskId,
      role: Role.ROLE_AGENT,
      parts,
      metadata,
      extensions: [],
      referenceTaskIds: [],
    });
    let begun = false;
    const said = steps({
      text,
      metadata: userMessage.metadata,
      task: taskId,
      context: contextId,
      follows: !!task,
    });
    for await (const step of said) {
      if (step.message) {
        bus.publish(AgentEvent.message(message([part({ text: step.message })])));
        break;
      }
      if (!begun) {
        begun = true;
        bus.publish(
          AgentEvent.task({
            id: taskId,
            contextId,
            status: { state: TaskState.TASK_STATE_SUBMITTED, timestamp: new Date().toISOString() },
            artifacts: task?.artifacts ?? [],
            history: [...(task?.history ?? []), userMessage],
            metadata: undefined,
          }),
        );
      }
      if (step.state) {
        const parts = [];
        if (step.text) parts.push(part({ text: step.text }));
        if (step.data) parts.push(part({ data: step.data, metadata: { kagent_type: step.type } }));
        const metadata = step.payload && { [extension]: step.payload };
        bus.publish(
          AgentEvent.statusUpdate({
            taskId,
            contextId,
            status: {
              state: states[step.state],
              message: parts.length ? message(parts, metadata) : undefined,
              timestamp: new Date().toISOString(),
            },
            metadata: undefined,
          }),
        );
      } else {
        const { id: artifactId, name = '', parts } = step.artifact;
        bus.publish(
          AgentEvent.artifactUpdate({
            taskId,
            contextId,
            artifact: { artifactId, name, description: '', parts: parts.map(part), extensions: [] },
            append: step.append,
            lastChunk: step.last,
            metadata: undefined,
          }),
        );
      }
    }
    this.running.delete(taskId);
    bus.finished();
  }

  async cancelTask(taskId, bus) {
    tell('canceled', { taskId });
    cancel(taskId);
    if (!this.running.has(taskId)) {
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId: this.contexts.get(taskId),
          status: { state: TaskState.TASK_STATE_CANCELED, timestamp: new Date().toISOString() },
          metadata: undefined,
        }),
      );
      bus.finished();
    }
  }
}

await start((app, url) => {
  const tenant = wishes.has('tenant') ? 'acme' : '';
  const elsewhere = wishes.has('elsewhere') ? 'http://example.invalid' : url;
  const both = [
    { url: `${elsewhere}/jsonrpc`, protocolBinding: 'JSONRPC', tenant, protocolVersion: '1.0' },
    { url: `${elsewhere}/rest`, protocolBinding: 'HTTP+JSON', tenant, protocolVersion: '1.0' },
  ];
  const card = {
    name: 'Peer',
    description: 'An agent for tests',
    version: '1',
    provider: undefined,
    capabilities: {
      streaming: !wishes.has('no-streams'),
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: [{ uri: extension, description: '', required: false }],
    },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
    supportedInterfaces: both,
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Executor());
  const userBuilder = UserBuilder.noAuthentication;
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/jsonrpc', jsonRpcHandler({ requestHandler, userBuilder }));
  app.use('/rest', restHandler({ requestHandler, userBuilder }));
});
