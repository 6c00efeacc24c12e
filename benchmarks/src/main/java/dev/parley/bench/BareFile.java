package dev.parley.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/// The least that durable writing can cost: all that waits goes into a file as it is, then one fsync.
final class BareFile implements Appender {

  private static final int BATCH_MAX = 4_096;
  private static final int HEAD_BYTES = 12;

  private final FileChannel file;
  private final Handoff<Token> handoff;

  private record Token(int context, int index, byte[] text) {}

  BareFile(Path folder) throws IOException {
    file =
        FileChannel.open(
            folder.resolve("bare"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    handoff = new Handoff<>(BATCH_MAX, this::write);
  }

  @Override
  public String name() {
    return "bare file, grouped fsync";
  }

  @Override
  public void append(int context, int index, String text) {
    handoff.write(new Token(context, index, text.getBytes(StandardCharsets.UTF_8)));
  }

  private void write(List<Token> batch) {
    var size = batch.stream().mapToInt(token -> HEAD_BYTES + token.text().length).sum();
    var bytes = ByteBuffer.allocate(size);
    for (var token : batch) {
      bytes.putInt(token.context()).putInt(token.index()).putInt(token.text().length);
      bytes.put(token.text());
    }
    try {
      bytes.flip();
      while (bytes.hasRemaining()) {
        file.write(bytes);
      }
      file.force(false);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @Override
  public void close() {
    handoff.close();
    try {
      file.close();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
