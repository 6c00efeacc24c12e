package dev.parley.log;

import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// A folder that belongs to this process alone for as long as it is open.
final class DataFolder implements AutoCloseable {

  private static final Logger LOG = System.getLogger(DataFolder.class.getName());
  private static final String LOCK_FILE = "parley.lock";
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rwx------");

  // The one piece of static state we have: closing any channel of a locked file gives up the whole
  // process's lock, so this process must never open a file that it has locked already.
  private static final Set<Path> CLAIMED = ConcurrentHashMap.newKeySet();

  private final Path real;
  private final FileChannel channel;

  private DataFolder(Path real, FileChannel channel) {
    this.real = real;
    this.channel = channel;
  }

  /// Makes the folder if it is missing, and claims it.
  ///
  /// @throws Rejection.Conflict if another process has it, saying which
  static DataFolder claim(Path folder) {
    try {
      create(folder);
      var real = folder.toRealPath();
      if (!CLAIMED.add(real)) {
        throw taken(folder, Long.toString(ProcessHandle.current().pid()));
      }
      return lock(folder, real);
    } catch (IOException unusable) {
      throw new Rejection.Unavailable(
          "the data folder "
              + folder
              + " cannot be used: "
              + (Files.isRegularFile(folder) ? "it is a file" : unusable.getMessage()));
    }
  }

  private static DataFolder lock(Path folder, Path real) throws IOException {
    var claimed = false;
    try {
      var file = folder.resolve(LOCK_FILE);
      var channel =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      if (channel.tryLock() == null) {
        var holder = Files.readString(file, StandardCharsets.US_ASCII).strip();
        channel.close();
        throw taken(folder, holder.isEmpty() ? "unknown" : holder);
      }
      var pid = Long.toString(ProcessHandle.current().pid());
      channel.truncate(0);
      channel.write(ByteBuffer.wrap(pid.getBytes(StandardCharsets.US_ASCII)), 0);
      claimed = true;
      return new DataFolder(real, channel);
    } finally {
      if (!claimed) {
        CLAIMED.remove(real);
      }
    }
  }

  private static Rejection taken(Path folder, String pid) {
    return new Rejection.Conflict(
        "data-folder-in-use",
        "the data folder %s is in use by process %s; stop that one or choose another with --data"
            .formatted(folder, pid));
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

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException useless) {
      LOG.log(Level.DEBUG, "closing the data folder: {0}", useless.getMessage());
    } finally {
      CLAIMED.remove(real);
    }
  }
}
