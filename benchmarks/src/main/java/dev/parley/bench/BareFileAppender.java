package dev.parley.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/// The minimal cost of durable writes: all waiting tokens are written to a file, then one fsync.
final class BareFileAppender implements DurableAppender {

  private static final int BATCH_MAX = 4_096;
  private static final int HEAD_BYTES = 12;

  private final FileChannel file;
  private final WriteQueue<ByteBuffer> writeQueue;

  BareFileAppender(Path folder) throws IOException {
    file =
        FileChannel.open(
            folder.resolve("bare"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    writeQueue = new WriteQueue<>(BATCH_MAX, this::write);
  }

  @Override
  public String name() {
    return "bare file, grouped fsync";
  }

  @Override
  public void append(int context, int index, String text) {
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    var token = ByteBuffer.allocate(HEAD_BYTES + bytes.length);
    writeQueue.write(token.putInt(context).putInt(index).putInt(bytes.length).put(bytes).flip());
  }

  private void write(List<ByteBuffer> batch) {
    var bytes = ByteBuffer.allocate(batch.stream().mapToInt(ByteBuffer::remaining).sum());
    batch.forEach(bytes::put);
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
    writeQueue.close();
    try {
      file.close();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
