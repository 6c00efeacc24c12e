package dev.parley.app;

/// The program `parley`.
///
/// A placeholder, until there is a server to start.
public final class Main {

  private Main() {}

  /// Runs the command that `arguments` name.
  public static void main(String[] arguments) {
    if (arguments.length > 0 && arguments[0].equals("warm-up")) {
      return;
    }
    System.out.println("usage: parley [serve] [--host HOST] [--port PORT] [--data DIR]");
  }
}
