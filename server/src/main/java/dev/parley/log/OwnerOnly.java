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

/// Files and folders that nobody but their owner may read, whatever the umask says.
///
/// Where the file system knows no such permissions, files and folders are made as usual.
public final class OwnerOnly {

  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
  private static final Set<PosixFilePermission> FOLDER =
      PosixFilePermissions.fromString("rwx------");

  private OwnerOnly() {}

  /// What this new file is to be made with.
  static FileAttribute<?>[] newFile(Path file) {
    return posix(file)
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(FILE)}
        : new FileAttribute<?>[0];
  }

  /// Makes an empty file, unless there is one. SQLite gives the files beside a database the same
  /// permissions. If it cannot be made, nothing happens: whoever opens it next is told why.
  public static void makeFile(Path file) {
    try {
      Files.createFile(file, newFile(file));
    } catch (IOException keptOrImpossible) {
      // One that is there has been tightened when the folder was claimed.
    }
  }

  /// Makes a folder, whose parent exists.
  public static void makeFolder(Path folder) throws IOException {
    if (posix(folder)) {
      Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(FOLDER));
    } else {
      Files.createDirectory(folder);
    }
  }

  /// True if others than the owner may do something with the file or folder.
  static boolean open(Path path) throws IOException {
    if (!posix(path)) {
      return false;
    }
    return !FOLDER.containsAll(Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS));
  }

  /// Takes from all but the owner what they may do with the file or folder.
  ///
  /// @throws IOException if it is somebody else's
  static void tighten(Path path) throws IOException {
    var kept = EnumSet.noneOf(PosixFilePermission.class);
    kept.addAll(Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS));
    kept.retainAll(Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS) ? FOLDER : FILE);
    Files.setPosixFilePermissions(path, kept);
  }

  private static boolean posix(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix");
  }
}
