// A Socket.IO room; the readers control when it sends events, see ServerControl.java.
const http = require('http');
const net = require('net');
const { randomUUID } = require('crypto');
const { Server } = require('socket.io');

const web = http.createServer();
const io = new Server(web, { transports: ['websocket'], serveClient: false });
io.on('connection', (socket) => socket.join('context'));

// The same fields as an event of Parley, so that both send the same bytes.
const contextId = randomUUID();
const taskId = randomUUID();
const blockId = randomUUID();
let seq = 0;

function emit(count) {
  for (let i = 0; i < count; i++) {
    seq++;
    io.to('context').emit('event', {
      kind: 'content-delta', seq, eventId: randomUUID(), contextId, taskId, rootTaskId: taskId,
      agentId: 'agent-code', agentLevel: 'core', timestamp: new Date().toISOString(),
      delta: process.hrtime.bigint().toString(), index: seq, blockId,
    });
  }
}

function memory() {
  for (let i = 0; i < 3; i++) global.gc();
  return process.memoryUsage().heapUsed;
}

const control = net.createServer((socket) => {
  let rest = '';
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.on('data', (data) => {
    const lines = (rest + data).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith('emit ')) emit(Number(line.slice(5)));
      else socket.write(memory() + '\n');
    }
  });
});

web.listen({ port: 0, host: '127.0.0.1', backlog: 1024 }, () => {
  control.listen(0, '127.0.0.1', () => {
    console.log(`ready ${web.address().port} ${control.address().port} -`);
  });
});
