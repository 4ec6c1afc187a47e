import java.io.*;
import java.util.*;

/** Reads from standard input what a client has to send, and prints the replies; see driver_test.go. */
abstract class Driver {
    /** Sends a form and returns the reply as the client decodes it. */
    abstract String send(String method, Map<String, String> form) throws Exception;

    void run() throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] fields = line.replace("\\n", "\n").split("\t");
            Map<String, String> form = new LinkedHashMap<String, String>();
            for (int i = 1; i < fields.length; i += 2) form.put(fields[i], fields[i + 1]);
            out.print(send(fields[0], form) + "\0");
            out.flush();
        }
    }
}
