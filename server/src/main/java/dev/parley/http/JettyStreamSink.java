package dev.parley.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Response;

/// Writes frames to a connection, which is watched for a disconnect of its reader. For one thread.
final class JettyStreamSink implements FrameStream.FrameSink, AutoCloseable {

  private final Response response;
  private final DisconnectDetector disconnects;
  private Runnable stopWatching = () -> {};

  JettyStreamSink(Response response, DisconnectDetector disconnectDetector) {
    this.response = response;
    this.disconnects = disconnectDetector;
  }

  @Override
  public void write(ByteBuffer frames) throws IOException {
    Content.Sink.write(response, false, frames);
  }

  @Override
  public void onPossibleDisconnect(Runnable doubt) {
    stopWatching = JettyConnection.watch(response, disconnects, doubt);
  }

  @Override
  public void close() {
    stopWatching.run();
  }
}
