package dev.parley.tool;

import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.Json;
import dev.parley.tool.ToolResult.ToolSignIn;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// `sign_in`: asks a person for a credential, which the model never sees.
public final class SignInTool extends BuiltInTool<SignInTool.Arguments> {

  private static final String DESCRIPTION =
      "Asks the person for a key to a service. It is stored securely, and you never see it:"
          + " http and fetch send it if service is the host of the URL, such as api.example.org."
          + " Returns {service, signedIn}.";

  private static final Pattern SERVICE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}");
  private static final int PROMPT_MAX = 1_000;

  /// The service, and the prompt for the person.
  public record Arguments(String service, @Nullable String prompt) {}

  public SignInTool() {
    super("sign_in", Effect.PURE, Arguments.class, DESCRIPTION);
  }

  @Override
  public ToolResult call(Arguments arguments, ToolContext context) {
    var service = arguments.service();
    var prompt = arguments.prompt() == null ? "" : arguments.prompt();
    if (!SERVICE.matcher(service).matches()) {
      return new ToolResult.Failed(
          "service must be a host or a name: letters, digits and . _ : / -");
    }
    if (prompt.length() > PROMPT_MAX) {
      return new ToolResult.Failed("prompt may have at most " + PROMPT_MAX + " characters");
    }
    return switch (context.answer().orElse(null)) {
      case null ->
          new ToolResult.NeedsSignIn(
              new ToolSignIn(
                  AuthType.API_KEY,
                  service,
                  List.of(),
                  prompt.isBlank() ? "A key for " + service + " is needed." : prompt,
                  null,
                  null,
                  null));
      case ToolAnswer.Given _ ->
          new ToolResult.Done(Json.object().put("service", service).put("signedIn", true));
      case ToolAnswer.Lapsed(var reason, _) ->
          new ToolResult.Failed("the sign-in failed: " + reason);
    };
  }
}
