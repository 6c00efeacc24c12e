package dev.parley.server;

import dev.parley.log.DatabaseBackup;
import dev.parley.log.OwnerOnlyFiles;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.SQLException;
import java.util.List;

/// Copies a data folder, also while a server uses it, and restores such a copy.
///
/// A backup is a folder with `log.db`, `push.db`, `control.db` and the vault. SQLite copies each database in one
/// read transaction, so each copy is a durable state. The views are rebuilt when the server starts.
public final class Backup {

  private static final String LOG = "log.db";

  /// The positions of webhooks are copied before the log. If a position were ahead of the restored
  /// log, the webhook would miss new events. If it is behind, events are only sent again.
  private static final List<String> DATABASES =
      List.of("push.db", "audit.db", "control.db", "identity.db", LOG);

  private static final List<String> FILES = List.of("vault.bin", "vault.key");

  private Backup() {}

  /// Copies the data folder `data` into the new folder `target`.
  ///
  /// @return the size of the copy in bytes
  /// @throws Rejection if there is nothing to copy, if `target` exists, or if a file cannot be
  ///     copied; an incomplete copy is removed
  public static long create(Path data, Path target) {
    if (!Files.isRegularFile(data.resolve(LOG))) {
      throw new Rejection.NotFound("there is no data folder at " + data + ": it has no " + LOG);
    }
    if (isInside(target, data)) {
      throw new Rejection.Invalid(
          target + " is inside the data folder " + data + "; choose a folder outside of it");
    }
    return copy(data, target);
  }

  /// Checks the backup in `backup`, and copies it into `data`, which must be empty or missing.
  ///
  /// @return the size of the copy in bytes
  /// @throws Rejection if the backup cannot be used, or if `data` is not empty; `data` is then
  ///     unchanged
  public static long restore(Path backup, Path data) {
    if (!Files.isRegularFile(backup.resolve(LOG))) {
      throw new Rejection.NotFound("there is no backup at " + backup + ": it has no " + LOG);
    }
    if (isInside(data, backup)) {
      throw new Rejection.Invalid(
          data + " is inside the backup " + backup + "; choose a folder outside of it");
    }
    try {
      if (Files.isDirectory(data)) {
        try (var entries = Files.list(data)) {
          if (entries.findAny().isPresent()) {
            throw new Rejection.Invalid(data + " is not empty; restore into a new folder");
          }
        }
        Files.delete(data);
      }
    } catch (IOException unusable) {
      throw failed(data, unusable);
    }
    return copy(backup, data);
  }

  /// Returns true if `path`, which need not exist, is inside `folder`. Follows links.
  private static boolean isInside(Path path, Path folder) {
    try {
      if (Files.exists(path) && Files.isSameFile(path, folder)) {
        return false;
      }
      var existing = path.toAbsolutePath().normalize();
      while (!Files.exists(existing) && existing.getParent() != null) {
        existing = existing.getParent();
      }
      return existing.toRealPath().startsWith(folder.toRealPath());
    } catch (IOException unusable) {
      throw failed(path, unusable);
    }
  }

  private static long copy(Path from, Path to) {
    if (Files.exists(to)) {
      throw new Rejection.Invalid(to + " exists; choose another name");
    }
    var parent = to.toAbsolutePath().normalize().getParent();
    // The folder is renamed when the copy is complete, so an interrupted copy is never mistaken for
    // a backup.
    var part = to.resolveSibling(to.getFileName() + ".part");
    try {
      if (parent != null) {
        Files.createDirectories(parent);
      }
      OwnerOnlyFiles.createFolder(part);
    } catch (IOException unusable) {
      throw failed(part, unusable);
    }
    var done = false;
    try {
      for (var name : DATABASES) {
        if (Files.isRegularFile(from.resolve(name))) {
          DatabaseBackup.copy(from.resolve(name), part.resolve(name), name.equals(LOG));
        }
      }
      // The server replaces each file by renaming, so a copy is either the old or the new file.
      for (var name : FILES) {
        if (Files.isRegularFile(from.resolve(name))) {
          OwnerOnlyFiles.createFile(part.resolve(name));
          Files.write(part.resolve(name), Files.readAllBytes(from.resolve(name)));
        }
      }
      var size = 0L;
      for (var name : names(part)) {
        size += Files.size(part.resolve(name));
        sync(part.resolve(name), StandardOpenOption.WRITE);
      }
      sync(part, StandardOpenOption.READ);
      Files.move(part, to);
      if (parent != null) {
        sync(parent, StandardOpenOption.READ);
      }
      done = true;
      return size;
    } catch (SQLException unreadable) {
      throw new Rejection.Unavailable(from + " cannot be copied: " + unreadable.getMessage());
    } catch (IOException unwritable) {
      throw failed(to, unwritable);
    } finally {
      if (!done) {
        remove(part);
      }
    }
  }

  private static List<String> names(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private static void sync(Path path, StandardOpenOption option) throws IOException {
    try (var channel = FileChannel.open(path, option)) {
      channel.force(true);
    }
  }

  private static Rejection failed(Path path, IOException reason) {
    return new Rejection.Unavailable("cannot write to " + path + ": " + reason);
  }

  private static void remove(Path part) {
    try {
      for (var name : names(part)) {
        Files.deleteIfExists(part.resolve(name));
      }
      Files.deleteIfExists(part);
    } catch (IOException left) {
      // The next attempt reports that the folder exists.
    }
  }
}
