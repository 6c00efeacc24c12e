package dev.parley.model;

import dev.parley.model.FakeModelAnswer.Ending;
import dev.parley.model.FakeModelAnswer.Step;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/// Writes one answer to a socket, with chunked encoding of HTTP/1.1. For one thread.
final class FakeModelResponseWriter {

  private static final Pattern LONE = Pattern.compile("\\p{Cs}");

  private final OutputStream out;
  private final FakeModelServer.ReceivedRequest receivedRequest;
  private final FakeModelAnswer answer;

  FakeModelResponseWriter(
      OutputStream out, FakeModelServer.ReceivedRequest receivedRequest, FakeModelAnswer answer) {
    this.out = out;
    this.receivedRequest = receivedRequest;
    this.answer = answer;
  }

  void send() throws IOException, InterruptedException {
    var type = answer.status() == 200 ? "text/event-stream; charset=utf-8" : "application/json";
    var own = answer.headers().stream().anyMatch(header -> header.startsWith("Content-Type:"));
    ascii("HTTP/1.1 " + answer.status() + " x\r\n" + (own ? "" : "Content-Type: " + type + "\r\n"));
    for (var header : answer.headers()) {
      ascii(header + "\r\n");
    }
    ascii("Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
    out.flush();
    var wire = FakeModelWire.of(receivedRequest);
    if (answer.status() == 200 && !own) {
      body(wire.begin(answer));
    }
    for (var step : answer.steps()) {
      switch (step) {
        case Step.Raw(var text) -> body(text);
        case Step.Wait(var gate) -> gate.await();
        default -> body(wire.step(step));
      }
    }
    if (answer.ending() == Ending.COMPLETE) {
      if (answer.status() == 200 && !own) {
        body(wire.end(answer));
      }
      ascii("0\r\n\r\n");
    } else if (answer.ending() == Ending.CUT) {
      ascii("0\r\n\r\n");
    }
    out.flush();
  }

  private void body(String text) throws IOException {
    var lines = text.replace("\n", answer.delivery().newline());
    var bytes = escaped(lines).getBytes(StandardCharsets.UTF_8);
    var step = answer.delivery().bytes() == 0 ? bytes.length : answer.delivery().bytes();
    for (var at = 0; at < bytes.length; at += step) {
      var count = Math.min(step, bytes.length - at);
      ascii(Integer.toHexString(count) + "\r\n");
      out.write(bytes, at, count);
      ascii("\r\n");
      out.flush();
    }
  }

  /// Escapes unpaired surrogates as in JSON.
  private static String escaped(String text) {
    return LONE.matcher(text)
        .replaceAll(half -> "\\\\u%04x".formatted((int) half.group().charAt(0)));
  }

  private void ascii(String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.US_ASCII));
  }
}
