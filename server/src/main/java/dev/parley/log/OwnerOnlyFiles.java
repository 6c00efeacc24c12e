package dev.parley.log;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/// Creates files and folders that only their owner can read, regardless of the umask.
///
/// On file systems without POSIX permissions, files and folders are created as usual.
public final class OwnerOnlyFiles {

  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
  private static final Set<PosixFilePermission> FOLDER =
      PosixFilePermissions.fromString("rwx------");

  private OwnerOnlyFiles() {}

  /// The attributes for creating this file.
  static FileAttribute<?>[] newFile(Path file) {
    return posix(file)
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(FILE)}
        : new FileAttribute<?>[0];
  }

  /// Creates an empty file if it does not exist. SQLite gives the same permissions to the files
  /// beside a database. If the file cannot be created, this method does nothing: the next open
  /// reports the error.
  public static void createFile(Path file) {
    try {
      Files.createFile(file, newFile(file));
    } catch (IOException keptOrImpossible) {
      // The permissions of an existing file were restricted when the data folder was locked.
    }
  }

  /// Creates a folder in an existing parent folder.
  public static void createFolder(Path folder) throws IOException {
    if (posix(folder)) {
      Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(FOLDER));
    } else {
      Files.createDirectory(folder);
    }
  }

  /// True if users other than the owner have any permission on the file or folder.
  static boolean accessibleByOthers(Path path) throws IOException {
    if (!posix(path)) {
      return false;
    }
    return !FOLDER.containsAll(Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS));
  }

  /// Removes all permissions of users other than the owner.
  ///
  /// @throws IOException if the file or folder belongs to another user
  static void restrictPermissions(Path path) throws IOException {
    var kept = EnumSet.noneOf(PosixFilePermission.class);
    kept.addAll(Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS));
    kept.retainAll(Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS) ? FOLDER : FILE);
    Files.setPosixFilePermissions(path, kept);
  }

  private static boolean posix(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix");
  }
}
