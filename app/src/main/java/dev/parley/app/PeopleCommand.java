package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.Identity.PersonChange;
import dev.parley.protocol.Identity.PersonView;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `parley people`.
@Command(
    name = "people",
    mixinStandardHelpOptions = true,
    description = {
      "Lists the people of your tenant, and changes their roles and groups.",
      "Add people with parley invite."
    },
    footer = {
      "",
      "Examples:",
      "  parley people",
      "  parley people ann --role member,approver",
      "  parley people ann --disable              end all sign-ins, and let nobody use the name"
    })
final class PeopleCommand extends ServerCommand {

  private static final int TEXT_MAX = 60;

  @Parameters(index = "0", arity = "0..1", paramLabel = "NAME", description = "A person to change.")
  private @Nullable String name;

  @Option(
      names = "--role",
      split = ",",
      paramLabel = "ROLE",
      description = "The new roles: owner, member, viewer, approver, operator.")
  private @Nullable List<String> roles;

  @Option(names = "--group", split = ",", paramLabel = "GROUP", description = "The new groups.")
  private @Nullable List<String> groups;

  @Option(names = "--disable", description = "End all sign-ins and keys of the person.")
  private boolean disable;

  @Option(names = "--enable", description = "Let a disabled person sign in again.")
  private boolean enable;

  @Option(names = "--json", description = "One JSON object per line.")
  private boolean json;

  PeopleCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void checkArguments() {
    var changes = roles != null || groups != null || disable || enable;
    if (name == null && changes) {
      throw new CommandExit(CommandExit.USAGE, "Name the person: parley people NAME …");
    }
    if (disable && enable) {
      throw new CommandExit(CommandExit.USAGE, "--disable and --enable exclude each other");
    }
  }

  @Override
  void run(ParleyClient client) {
    var people = name == null ? client.people() : List.of(one(client, name));
    if (json) {
      printJson(people);
    } else if (people.isEmpty()) {
      terminal.err().println("There are no people. Invite somebody with: parley invite NAME");
    } else {
      table(people).print(terminal.out(), terminal.outStyle());
    }
  }

  private PersonView one(ParleyClient client, String person) {
    if (roles == null && groups == null && !disable && !enable) {
      return client.person(person);
    }
    var disabled = disable ? Boolean.TRUE : enable ? Boolean.FALSE : null;
    return client.changePerson(person, new PersonChange(null, roles, groups, disabled));
  }

  static AlignedTable table(List<PersonView> people) {
    var table = new AlignedTable("NAME", "FULL NAME", "ROLES", "GROUPS", "LAST SIGN-IN");
    for (var person : people) {
      var fullName = person.displayName();
      table.row(
          TextSanitizer.line(person.name(), TEXT_MAX) + (person.disabled() ? " (disabled)" : ""),
          fullName == null ? "" : TextSanitizer.line(fullName, TEXT_MAX),
          String.join(",", person.roles()),
          TextSanitizer.line(String.join(",", person.groups()), TEXT_MAX),
          person.lastSignInAt() == null
              ? "never"
              : KeysCommand.ExpiryOption.day(person.lastSignInAt()));
    }
    return table;
  }
}
