package dev.parley.door;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Response;

/// Writes frames to a connection, which is watched for a disconnect of its reader. For one thread.
final class StreamSink implements EventStream.Sink, AutoCloseable {

  private final Response response;
  private final HangUps hangUps;
  private Runnable callOff = () -> {};

  StreamSink(Response response, HangUps hangUps) {
    this.response = response;
    this.hangUps = hangUps;
  }

  @Override
  public void write(ByteBuffer frames) throws IOException {
    Content.Sink.write(response, false, frames);
  }

  @Override
  public void whenInDoubt(Runnable doubt) {
    callOff = JettyConnection.watch(response, hangUps, doubt);
  }

  @Override
  public void close() {
    callOff.run();
  }
}
