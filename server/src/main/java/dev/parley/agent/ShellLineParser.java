package dev.parley.agent;

import dev.parley.protocol.VisibleText;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/// Parses a command line in two ways.
///
/// [#plain] accepts only a line that is certainly one simple command; the words are those that the
/// shell would use. [#candidates] accepts every line and returns all commands that it may run, too
/// many rather than too few. Both take time in proportion to the length of the line.
final class ShellLineParser {

  /// Longer lines are not parsed.
  static final int LENGTH_MAX = 10_000;

  /// The encoding of program arguments.
  private static final Charset NATIVE =
      Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"), StandardCharsets.US_ASCII);

  private static final int DEPTH_MAX = 4;
  private static final int CANDIDATES_MAX = 500;

  private static final String PLAIN = "_-./:=,+@%";

  /// Words that are not commands at the start of a command.
  private static final Set<String> RESERVED =
      words(
          """
          ! { } [[ if then else elif fi do done case esac while until for in function select time
          coproc
          """);

  /// Programs that run the commands in their arguments.
  private static final Set<String> WRAPPERS =
      words(
          """
          sudo doas env nohup nice time timeout stdbuf setsid ionice exec command builtin xargs
          trap mapfile readarray compgen complete jobs setarch linux32 linux64 prlimit setpriv
          numactl unbuffer caffeinate faketime sg dbus-run-session
          chroot busybox toybox watch strace ltrace flock unshare nsenter parallel script su
          runuser entr ssh find fd pkexec systemd-run chrt taskset firejail proot
          """);

  /// Reserved words that a name or an option may follow before the command.
  private static final Set<String> NAMING = Set.of("function", "coproc", "for", "select", "time");

  static final Set<String> SHELLS =
      Set.of("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh");

  private static final Pattern ASSIGNMENT = Pattern.compile("[A-Za-z_]\\w*(\\[[^]]*])?\\+?=.*");

  /// A command that a line may run. `clear` if the words are literal; otherwise they depend on
  /// expansions of the shell.
  record CandidateCommand(List<String> words, boolean programClear, boolean clear) {
    CandidateCommand {
      words = List.copyOf(words);
    }

    /// The program's name without its folder.
    String program() {
      return base(words.getFirst());
    }
  }

  /// All commands that a line may run; `opaque` if there may be others.
  record CandidateCommands(List<CandidateCommand> commands, boolean opaque) {
    CandidateCommands {
      commands = List.copyOf(commands);
    }
  }

  private ShellLineParser() {}

  /// Splits a list of words.
  static Set<String> words(String list) {
    return Set.of(list.strip().split("\\s+", -1));
  }

  static String base(String program) {
    return program.substring(program.lastIndexOf('/') + 1);
  }

  /// The words of a line that is one simple command of plain words; empty if the line has
  /// operators, expansions, assignments, comments, escapes, or anything else that makes a shell do
  /// more than start a program with these words.
  static Optional<List<String>> plain(String line) {
    return plain(line, false);
  }

  /// The same for a rule, whose words may contain `*`.
  static Optional<List<String>> plainRule(String rule) {
    return plain(rule, true);
  }

  private static Optional<List<String>> plain(String line, boolean stars) {
    // A character that the system's encoding lacks reaches the shell as `?`, which is a wildcard.
    if (line.length() > LENGTH_MAX || !NATIVE.newEncoder().canEncode(line)) {
      return Optional.empty();
    }
    var words = new ArrayList<String>();
    var word = new StringBuilder();
    var inWord = false;
    var quoted = false;
    for (var i = 0; i < line.length(); i++) {
      var c = line.charAt(i);
      if (c == ' ' || c == '\t') {
        if (inWord && !end(words, word, quoted)) {
          return Optional.empty();
        }
        inWord = false;
        quoted = false;
        continue;
      }
      if (c == '\'' || c == '"') {
        var close = line.indexOf(c, i + 1);
        if (close < 0 || !quotable(line, i + 1, close, c == '"')) {
          return Optional.empty();
        }
        word.append(line, i + 1, close);
        quoted |= words.isEmpty();
        i = close;
      } else if (isPlain(line, i) || (stars && c == '*')) {
        if (c == '=' && (!inWord || words.isEmpty())) {
          return Optional.empty();
        }
        word.append(c);
      } else {
        return Optional.empty();
      }
      inWord = true;
    }
    if (inWord && !end(words, word, quoted)) {
      return Optional.empty();
    }
    return words.isEmpty() || words.getFirst().isEmpty() ? Optional.empty() : Optional.of(words);
  }

  private static boolean end(List<String> words, StringBuilder word, boolean quoted) {
    var text = word.toString();
    word.setLength(0);
    if (words.isEmpty() && !quoted && RESERVED.contains(text)) {
      return false;
    }
    return words.add(text);
  }

  private static boolean quotable(String line, int from, int to, boolean expands) {
    for (var i = from; i < to; i++) {
      var c = line.charAt(i);
      if (isHidden(line, i) || (expands && (c == '$' || c == '`' || c == '\\' || c == '!'))) {
        return false;
      }
    }
    return true;
  }

  private static boolean isPlain(String line, int index) {
    var c = line.charAt(index);
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || PLAIN.indexOf(c) >= 0
        || (c > 127 && Character.isLetterOrDigit(c) && !isHidden(line, index));
  }

  /// True if the character at `index` is invisible, or if a terminal or another shell may interpret
  /// it differently.
  private static boolean isHidden(String line, int index) {
    var second =
        index > 0
            && Character.isLowSurrogate(line.charAt(index))
            && Character.isHighSurrogate(line.charAt(index - 1));
    return VisibleText.isHidden(line.codePointAt(second ? index - 1 : index));
  }

  /// All commands that the line may run, including nested ones.
  static CandidateCommands candidates(String line) {
    var reader = new Reader();
    reader.read(line, 0);
    return new CandidateCommands(reader.found, reader.opaque);
  }

  private static final class Reader {
    private final List<CandidateCommand> found = new ArrayList<>();
    private boolean opaque;

    void read(String line, int depth) {
      if (depth > DEPTH_MAX || line.length() > LENGTH_MAX || found.size() > CANDIDATES_MAX) {
        opaque = true;
        return;
      }
      var command = new Command();
      var nested = line.contains("${") || line.contains("((") || line.contains("[[");
      for (var i = 0; i < line.length(); i++) {
        var c = line.charAt(i);
        switch (c) {
          case ' ', '\t' -> command.endWord();
          case '\n', '\r', ';', '|', '&', '(', ')' -> end(command, depth);
          case '<', '>' -> {
            opaque |= line.startsWith("<<", i);
            command.redirect();
            var next = i + 1 < line.length() ? line.charAt(i + 1) : ' ';
            i += next == '&' || next == '|' ? 1 : 0;
          }
          case '`' -> {
            opaque = true;
            end(command, depth);
          }
          case '#' -> {
            if (command.inWord) {
              command.append("#");
            } else {
              // A comment, except inside ${}, (()) or [[]]: there the rest may count.
              opaque |= nested;
              var lineEnd = line.indexOf('\n', i);
              i = (lineEnd < 0 ? line.length() : lineEnd) - 1;
            }
          }
          case '\'' -> {
            var close = line.indexOf('\'', i + 1);
            opaque |= close < 0;
            close = close < 0 ? line.length() : close;
            command.append(line.substring(i + 1, close));
            i = close;
          }
          case '"' -> i = quoted(line, i + 1, command, depth);
          case '\\' -> {
            i++;
            if (i < line.length() && line.charAt(i) != '\n') {
              command.append(line.substring(i, i + 1));
            }
          }
          case '$' -> {
            opaque |= line.startsWith("$(", i) || line.startsWith("$'", i);
            command.unclear();
            command.append("$");
          }
          case '*', '?', '[', ']', '{', '}', '~', '!' -> command.special(c);
          default -> {
            opaque |= isHidden(line, i);
            command.append(String.valueOf(c));
          }
        }
      }
      end(command, depth);
    }

    /// Reads up to the closing quote, and parses substitutions inside it as separate lines.
    private int quoted(String line, int from, Command command, int depth) {
      command.append("");
      var i = from;
      for (; i < line.length() && line.charAt(i) != '"'; i++) {
        var c = line.charAt(i);
        if (c == '`' || line.startsWith("$(", i)) {
          // The end of the substitution is unknown without a full parser; reading too much does no
          // harm.
          opaque = true;
          if (depth < DEPTH_MAX) {
            read(line.substring(i + (c == '`' ? 1 : 2)), DEPTH_MAX);
          }
          var close = line.indexOf('"', i);
          return close < 0 ? line.length() : close;
        }
        if (line.startsWith("\\\n", i)) {
          i++;
          continue;
        }
        if (c == '\\' && i + 1 < line.length()) {
          i++;
        } else if (c == '$') {
          command.unclear();
        }
        opaque |= isHidden(line, i) && line.charAt(i) != '\n';
        command.append(String.valueOf(line.charAt(i)));
      }
      opaque |= i >= line.length();
      return i;
    }

    private void end(Command command, int depth) {
      command.endWord();
      var words = command.words;
      var from = 0;
      while (from < words.size()
          && (RESERVED.contains(words.get(from))
              || ASSIGNMENT.matcher(words.get(from)).matches())) {
        from++;
      }
      opaque |= words.stream().limit(from).anyMatch(RiskyCommands::isDangerousAssignment);
      if (from < words.size()) {
        add(words.subList(from, words.size()), command.unclear.subList(from, words.size()), depth);
      }
      // function f { rm; }, coproc f { rm; }, for i do rm; done, time -p rm
      if (words.stream().limit(from).anyMatch(NAMING::contains)) {
        for (var i = from + 1; i < Math.min(words.size(), from + 8); i++) {
          if (!RESERVED.contains(words.get(i))) {
            add(words.subList(i, words.size()), command.unclear.subList(i, words.size()), depth);
          }
        }
      }
      command.clear();
    }

    private void add(List<String> words, List<Boolean> unclear, int depth) {
      if (found.size() > CANDIDATES_MAX) {
        opaque = true;
        return;
      }
      found.add(new CandidateCommand(words, !unclear.getFirst(), !unclear.contains(true)));
      var program = base(words.getFirst()).toLowerCase(Locale.ROOT);
      if (SHELLS.contains(program) || program.equals("eval")) {
        // A script that is not in the line cannot be parsed.
        opaque |= SHELLS.contains(program) && !takesCommand(words);
        words.stream().skip(1).forEach(word -> read(word, depth + 1));
        read(String.join(" ", words.subList(1, words.size())), depth + 1);
      } else if (program.equals("source") || program.equals(".")) {
        opaque = true;
      } else if (RiskyCommands.setsDangerousVariable(program, words)) {
        opaque = true;
      } else if (RiskyCommands.runsCode(program, words)) {
        opaque = true;
      } else if (WRAPPERS.contains(program)) {
        opaque |= words.stream().anyMatch(RiskyCommands::isDangerousAssignment);
        for (var i = 1; i < words.size() && found.size() <= CANDIDATES_MAX; i++) {
          var rest = words.subList(i, Math.min(words.size(), i + 64));
          if (rest.getFirst().indexOf(' ') >= 0 || rest.getFirst().indexOf('\n') >= 0) {
            // A whole line in one word: env -S, su -c, watch, trap.
            read(rest.getFirst(), depth + 1);
          }
          var name = base(rest.getFirst());
          // command eval, builtin source: after other programs a dot is a folder.
          var evaluates = i == 1 && Set.of("eval", "source", ".").contains(name);
          evaluates &= program.equals("command") || program.equals("builtin");
          if ((SHELLS.contains(name) || evaluates) && depth < DEPTH_MAX) {
            add(rest, unclear.subList(i, i + rest.size()), depth + 1);
          } else {
            var hidden = unclear.subList(i, i + rest.size());
            found.add(new CandidateCommand(rest, !hidden.getFirst(), !hidden.contains(true)));
            opaque |= RiskyCommands.runsCode(name, rest);
          }
        }
        opaque |= found.size() > CANDIDATES_MAX;
      }
    }
  }

  /// True if a shell receives its commands in an argument, and not from a file or its input.
  private static boolean takesCommand(List<String> words) {
    for (var word : words.subList(1, words.size())) {
      if (!word.startsWith("-") || word.startsWith("--")) {
        return false;
      }
      if (word.contains("c")) {
        return true;
      }
    }
    return false;
  }

  /// The command that is being parsed.
  private static final class Command {
    private final List<String> words = new ArrayList<>();
    private final List<Boolean> unclear = new ArrayList<>();
    private final StringBuilder word = new StringBuilder();
    private boolean inWord;
    private boolean wordUnclear;
    private boolean target;

    void append(String text) {
      inWord = true;
      word.append(text);
    }

    void unclear() {
      inWord = true;
      wordUnclear = true;
    }

    /// `[` and braces are literal if they are a word of their own.
    void special(char c) {
      append(String.valueOf(c));
      wordUnclear |= c != '!' && c != ']' && c != '}';
    }

    void redirect() {
      if (inWord && word.chars().allMatch(Character::isDigit)) {
        word.setLength(0);
        inWord = false;
      }
      endWord();
      target = true;
    }

    void endWord() {
      if (!inWord) {
        return;
      }
      var text = word.toString();
      if (!target) {
        words.add(text);
        unclear.add(wordUnclear && !Set.of("[", "{", "[[").contains(text));
      }
      target = false;
      word.setLength(0);
      inWord = false;
      wordUnclear = false;
    }

    void clear() {
      words.clear();
      unclear.clear();
      target = false;
    }
  }
}
