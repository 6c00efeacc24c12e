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
import java.util.ArrayList;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/// The data folder, locked for this process while it is open.
public final class DataFolder implements AutoCloseable {

  private static final Logger LOG = System.getLogger(DataFolder.class.getName());
  private static final String LOCK_FILE = "parley.lock";

  /// The names of the files that Parley creates in a data folder.
  private static final Pattern OURS =
      Pattern.compile(
          "(?:log|views|push|control)\\.db(?:-wal|-shm|-journal)?|parley\\.lock|server\\.json(?:\\.next)?"
              + "|vault\\.(?:bin|key)(?:\\.new)?|children");

  // Static, because closing any channel of a locked file releases the lock of the whole process.
  // So the process must never open a file that it has already locked.
  private static final Set<Path> CLAIMED = ConcurrentHashMap.newKeySet();

  private final Path real;
  private final FileChannel channel;

  private DataFolder(Path real, FileChannel channel) {
    this.real = real;
    this.channel = channel;
  }

  /// Creates the folder if it is missing, and locks it.
  ///
  /// @throws Rejection.Conflict if another process uses it; the message names the process
  public static DataFolder claim(Path folder) {
    try {
      create(folder);
      restrictPermissions(folder);
      var real = folder.toRealPath();
      if (!CLAIMED.add(real)) {
        throw inUse(folder, Long.toString(ProcessHandle.current().pid()));
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
      var options =
          Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      var channel = FileChannel.open(file, options, OwnerOnlyFiles.newFile(file));
      if (channel.tryLock() == null) {
        var holder = Files.readString(file, StandardCharsets.US_ASCII).strip();
        channel.close();
        throw inUse(folder, holder.isEmpty() ? "unknown" : holder);
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

  private static Rejection inUse(Path folder, String pid) {
    return new Rejection.Conflict(
        "data-folder-in-use",
        "the data folder %s is in use by process %s; stop it or choose another with --data"
            .formatted(folder, pid));
  }

  /// Creates a missing folder that only its owner can read, because conversations are private.
  private static void create(Path folder) throws IOException {
    if (Files.isDirectory(folder)) {
      return;
    }
    var parent = folder.toAbsolutePath().getParent();
    if (parent != null) {
      Files.createDirectories(parent);
    }
    OwnerOnlyFiles.createFolder(folder);
  }

  /// Removes the permissions of other users from the folder and from Parley's files in it.
  ///
  /// A folder that also contains other files keeps its permissions, because it may be shared on
  /// purpose.
  private static void restrictPermissions(Path folder) throws IOException {
    var ours = new ArrayList<Path>();
    var foreign = false;
    try (var entries = Files.newDirectoryStream(folder)) {
      for (var entry : entries) {
        if (isOurs(entry)) {
          ours.add(entry);
        } else {
          foreign = true;
        }
      }
    }
    if (OwnerOnlyFiles.accessibleByOthers(folder)) {
      if (foreign) {
        LOG.log(
            Level.WARNING,
            "other users can read the data folder {0}, which also contains files that are not"
                + " Parley''s; a separate folder would be safer",
            folder);
      } else {
        OwnerOnlyFiles.restrictPermissions(folder);
        LOG.log(
            Level.WARNING,
            "other users could read the data folder {0}; its permissions are now owner-only",
            folder);
      }
    }
    for (var entry : ours) {
      // The credential vault itself rejects a key file that other users can read.
      if (!entry.endsWith("vault.key")
          && !Files.isSymbolicLink(entry)
          && OwnerOnlyFiles.accessibleByOthers(entry)) {
        OwnerOnlyFiles.restrictPermissions(entry);
      }
    }
  }

  /// Returns true if Parley creates files with this name in a data folder.
  static boolean isOurs(Path file) {
    return OURS.matcher(file.getFileName().toString()).matches();
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
