// Serves one file over HTTP.
const fs = require('fs');
const http = require('http');

const file = process.argv[2];
const server = http.createServer((request, response) => {
  response.writeHead(200, { 'Content-Length': fs.statSync(file).size });
  fs.createReadStream(file, { highWaterMark: 1 << 18 }).pipe(response);
});
server.listen(0, '127.0.0.1', () => console.log(`ready ${server.address().port}`));
