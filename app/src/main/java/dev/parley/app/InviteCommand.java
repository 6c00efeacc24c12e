package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.Identity.NewInvitation;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `parley invite`.
@Command(
    name = "invite",
    mixinStandardHelpOptions = true,
    description = {
      "Creates a link with which one person joins this server and signs in.",
      "Whoever opens the link first becomes this person: send it privately."
    },
    footer = {
      "",
      "Examples:",
      "  parley invite ann",
      "  parley invite                            the person chooses a name",
      "  parley invite bob --role member,approver --group team --expires 24h"
    })
final class InviteCommand extends ServerCommand {

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "NAME",
      description = "The name of the person; without it, the person chooses one.")
  private @Nullable String name;

  @Option(
      names = "--role",
      split = ",",
      paramLabel = "ROLE",
      description = "Roles: owner, member (default), viewer, approver, operator.")
  private @Nullable List<String> roles;

  @Option(names = "--group", split = ",", paramLabel = "GROUP", description = "Groups.")
  private @Nullable List<String> groups;

  @Option(names = "--tenant", paramLabel = "TENANT", description = "Another tenant than yours.")
  private @Nullable String tenant;

  @Option(
      names = "--expires",
      paramLabel = "TIME",
      description = "How long the link is valid, such as 24h (default: 7d).")
  private @Nullable String expires;

  @Option(names = "--json", description = "One JSON object.")
  private boolean json;

  InviteCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void checkArguments() {
    if (expires != null) {
      var _ = KeysCommand.ExpiryOption.parse(expires);
    }
  }

  @Override
  void run(ParleyClient client) {
    var expiresAt =
        expires == null ? null : KeysCommand.ExpiryOption.from(InstantSource.system(), expires);
    var created = client.invite(new NewInvitation(name, tenant, roles, groups, expiresAt));
    if (json) {
      printJson(List.of(created));
      return;
    }
    terminal.out().println(created.url());
    terminal.out().flush();
    terminal
        .err()
        .println(
            "One person can use this link until %s UTC, as %s."
                .formatted(
                    KeysCommand.ExpiryOption.day(created.expiresAt()),
                    String.join(", ", created.roles())));
  }
}
