package dev.parley.auth;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/// Writes files atomically, and so that only their owner may read them.
final class PrivateFileWriter {

  private PrivateFileWriter() {}

  /// Replaces the content of the file. When this method returns, the new content survives a crash.
  static void write(Path folder, String name, byte[] bytes) throws IOException {
    var file = folder.resolve(name);
    var draft = folder.resolve(name + ".new");
    Files.deleteIfExists(draft);
    FileAttribute<?>[] mine =
        Files.getFileStore(folder).supportsFileAttributeView("posix")
            ? new FileAttribute<?>[] {
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
            }
            : new FileAttribute<?>[0];
    var options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    try (var channel = FileChannel.open(draft, options, mine)) {
      for (var rest = ByteBuffer.wrap(bytes); rest.hasRemaining(); ) {
        channel.write(rest);
      }
      channel.force(true);
    }
    Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    sync(folder);
  }

  private static void sync(Path folder) {
    try (var channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    } catch (IOException unsupported) {
      // Some systems cannot open a folder. On the others, this makes the rename durable.
    }
  }
}
