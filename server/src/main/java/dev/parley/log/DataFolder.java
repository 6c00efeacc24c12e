package dev.parley.log;

import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A folder that belongs to this process alone for as long as it is open.
final class DataFolder implements AutoCloseable {

  private static final String LOCK_FILE = "parley.lock";
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rwx------");

  private final FileChannel channel;

  private DataFolder(FileChannel channel) {
    this.channel = channel;
  }

  /// Makes the folder if it is missing, and claims it.
  ///
  /// @throws Rejection.Conflict if another process has it, saying which
  static DataFolder claim(Path folder) {
    try {
      create(folder);
      var file = folder.resolve(LOCK_FILE);
      var channel =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      if (lock(channel) == null) {
        channel.close();
        throw new Rejection.Conflict(
            "data-folder-in-use",
            "the data folder %s is in use by process %s; stop that one or choose another with --data"
                .formatted(folder, holder(file)));
      }
      var pid = Long.toString(ProcessHandle.current().pid());
      channel.truncate(0);
      channel.write(ByteBuffer.wrap(pid.getBytes(StandardCharsets.US_ASCII)), 0);
      return new DataFolder(channel);
    } catch (IOException unusable) {
      throw new Rejection.Unavailable(
          "the data folder " + folder + " cannot be used: " + unusable.getMessage());
    }
  }

  /// What agents say is nobody else's business: only the owner may look into a new folder.
  private static void create(Path folder) throws IOException {
    if (Files.isDirectory(folder)) {
      return;
    }
    var parent = folder.toAbsolutePath().getParent();
    if (parent != null) {
      Files.createDirectories(parent);
    }
    if (folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
    } else {
      Files.createDirectory(folder);
    }
  }

  private static @Nullable FileLock lock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException hereAlready) {
      return null;
    }
  }

  private static String holder(Path file) throws IOException {
    var pid = Files.readString(file, StandardCharsets.US_ASCII).strip();
    return pid.isEmpty() ? "unknown" : pid;
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException alreadyClosed) {
      // Closing is all that can be done, and a closed channel holds no lock.
      return;
    }
  }
}
