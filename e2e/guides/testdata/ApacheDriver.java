import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.http.*;
import org.apache.http.client.config.*;
import org.apache.http.client.entity.UrlEncodedFormEntity;
import org.apache.http.client.methods.*;
import org.apache.http.client.utils.URLEncodedUtils;
import org.apache.http.entity.*;
import org.apache.http.impl.client.*;
import org.apache.http.message.BasicNameValuePair;
import org.apache.http.util.EntityUtils;

/**
 * Sends by Apache HttpClient 4. Arguments: the address, and how forms are written: in "UTF-8", in the "default" charset, or as
 * a "string" that is encoded already, which is sent with the charset ISO-8859-1.
 */
class ApacheDriver extends Driver {
    private final CloseableHttpClient http = HttpClients.createDefault();
    private final String url;
    private final String way;

    ApacheDriver(String url, String way) {
        this.url = url;
        this.way = way;
    }

    @Override String send(String method, Map<String, String> form) throws Exception {
        List<NameValuePair> pairs = new ArrayList<NameValuePair>();
        for (Map.Entry<String, String> each : form.entrySet()) pairs.add(new BasicNameValuePair(each.getKey(), each.getValue()));
        HttpUriRequest request;
        if (method.equals("GET")) {
            request = new HttpGet(url + "?" + URLEncodedUtils.format(pairs, StandardCharsets.UTF_8));
        } else {
            HttpPost post = new HttpPost(url);
            post.setEntity(entity(pairs));
            request = post;
        }
        try (CloseableHttpResponse response = http.execute(request)) {
            return EntityUtils.toString(response.getEntity());
        }
    }

    private HttpEntity entity(List<NameValuePair> pairs) throws Exception {
        if (way.equals("default")) return new UrlEncodedFormEntity(pairs);
        if (way.equals("string")) return new StringEntity(URLEncodedUtils.format(pairs, StandardCharsets.UTF_8), ContentType.APPLICATION_FORM_URLENCODED);
        return new UrlEncodedFormEntity(pairs, StandardCharsets.UTF_8);
    }

    public static void main(String[] args) throws Exception { new ApacheDriver(args[0], args[1]).run(); }
}
