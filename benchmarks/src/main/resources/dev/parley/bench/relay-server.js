// A simple server: each token of a program is a row in SQLite and then an event of a Socket.IO room.
const http = require('http');
const path = require('path');
const readline = require('readline');
const { spawn } = require('child_process');
const { randomUUID } = require('crypto');
const Database = require('better-sqlite3');
const { Server } = require('socket.io');

const [folder, ...command] = process.argv.slice(2);
const database = new Database(path.join(folder, 'agents.db'));
database.pragma('journal_mode = WAL');
database.exec(`
  CREATE TABLE agents (id TEXT PRIMARY KEY, type TEXT NOT NULL, status TEXT NOT NULL);
  CREATE TABLE agent_messages (
    id TEXT PRIMARY KEY, agent_id TEXT NOT NULL REFERENCES agents(id) ON DELETE CASCADE,
    sequence_number INTEGER NOT NULL, type TEXT NOT NULL, role TEXT, content TEXT NOT NULL,
    raw TEXT, metadata TEXT, created_at TEXT NOT NULL, UNIQUE (agent_id, sequence_number));
  CREATE INDEX idx_agent_messages_agent_id ON agent_messages(agent_id);
  CREATE INDEX idx_agent_messages_sequence ON agent_messages(agent_id, sequence_number);
  CREATE INDEX idx_agent_messages_created_at ON agent_messages(created_at);`);
const last = database.prepare(
  'SELECT MAX(sequence_number) AS n FROM agent_messages WHERE agent_id = ?');
const insert = database.prepare('INSERT INTO agent_messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
const save = database.transaction((agentId, content, raw) => {
  const message = {
    id: randomUUID(), agentId, sequenceNumber: (last.get(agentId).n ?? 0) + 1, type: 'assistant',
    role: 'assistant', content, raw, metadata: { eventType: 'content_delta' },
    createdAt: new Date().toISOString(),
  };
  insert.run(message.id, agentId, message.sequenceNumber, message.type, message.role,
    JSON.stringify(content), raw, JSON.stringify(message.metadata), message.createdAt);
  return message;
});

const web = http.createServer((request, response) => {
  request.resume().on('end', () => {
    const agentId = randomUUID();
    database.prepare('INSERT INTO agents VALUES (?, ?, ?)').run(agentId, 'relay', 'running');
    run(agentId);
    const body = JSON.stringify({ agentId, status: 'running', createdAt: new Date().toISOString() });
    response.writeHead(201, { 'content-length': Buffer.byteLength(body) }).end(body);
  });
});
const io = new Server(web, { transports: ['websocket'], serveClient: false });
io.on('connection', (socket) => {
  socket.on('subscribe', ({ agentId }) => {
    socket.join(`agent:${agentId}`);
    socket.emit('subscribed', { agentId, timestamp: new Date().toISOString() });
  });
});

function run(agentId) {
  const child = spawn(command[0], command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.write('{"type":"user"}\n');
  readline.createInterface({ input: child.stdout }).on('line', (line) => {
    const delta = JSON.parse(line).event?.delta;
    if (delta?.type === 'text_delta') {
      const message = save(agentId, delta.text, line);
      io.to(`agent:${agentId}`).emit('agent:message', {
        agentId, message, timestamp: new Date().toISOString(),
      });
    }
  });
}

web.listen({ port: 0, host: '127.0.0.1' }, () => console.log(`ready ${web.address().port}`));
